/* Test a model on a stream, then teach it, sample by sample; save it at the end.

       stream MODEL SAVED < rows

   A line has the label of a sample and its features, with spaces between. */
#include <okn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int class_of(const okn_t *model, const char *label)
{
    for (int32_t k = 0; k < okn_n_classes(model); k++)
        if (!strcmp(okn_label(model, k), label))
            return k;
    return -1;
}

/* Returns 0, or the code of the call that failed. */
static int follow(okn_t *model)
{
    const int32_t d = okn_n_features(model);
    double *x = malloc(sizeof *x * (size_t)d);
    char label[256];
    int status = x ? 0 : OKN_NO_MEMORY, wrong = 0, n = 0;
    while (!status && scanf("%255s", label) == 1) {
        const int y = class_of(model, label);
        int predicted;
        for (int32_t j = 0; j < d; j++)
            if (scanf("%lf", &x[j]) != 1)
                x[j] = 0;
        predicted = okn_predict(model, x);
        status = predicted < 0 ? predicted : okn_learn(model, x, y);
        wrong += predicted != y;
        n++;
    }
    free(x);
    printf("%d of %d wrong\n", wrong, n);
    return status;
}

int main(int count, char **arguments)
{
    okn_t *model = NULL;
    int status;
    if (count != 3) {
        fprintf(stderr, "stream MODEL SAVED < rows\n");
        return 2;
    }
    status = okn_open(arguments[1], &model);
    if (!status)
        status = follow(model);
    if (!status)
        status = okn_save(model, arguments[2]);
    if (status)
        fprintf(stderr, "%s: %s\n", arguments[1], okn_error(model));
    okn_close(model);
    return status ? 1 : 0;
}
