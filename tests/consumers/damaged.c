/* Use models of damaged files as a program would. The paths come from standard input. */
#include <okn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40 };

static void use(okn_t *model, const char *path)
{
    const int32_t d = okn_n_features(model), n = okn_n_outputs(model);
    const int32_t columns[2] = {0, d - 1};
    const double values[2] = {0.5, -0.25};
    double *x, *scores;
    if (d > 1000 || n > 1000)
        return;
    x = calloc((size_t)d, sizeof *x);
    scores = calloc((size_t)n, sizeof *scores);
    for (int32_t t = 0; t < ROWS; t++) {
        for (int32_t j = 0; j < d; j++)
            x[j] = (double)((t * 7 + j * 5) % 11) / 3 - 1.6;
        okn_score(model, x, scores);
        okn_predict(model, x);
        okn_learn(model, x, t % (okn_n_classes(model) ? okn_n_classes(model) : 3));
    }
    okn_score_sparse(model, columns, values, d > 1 ? 2 : 1, scores);
    okn_save(model, path);
    okn_learn(model, x, 1);
    okn_save(model, path);
    free(x);
    free(scores);
}

int main(int count, char **arguments)
{
    char path[4096];
    int opened = 0;
    if (count != 2)
        return 2;
    while (fgets(path, sizeof path, stdin)) {
        okn_t *model;
        path[strcspn(path, "\n")] = 0;
        fprintf(stderr, "%s\n", path);
        if (okn_open(path, &model) == OKN_OK) {
            opened++;
            use(model, arguments[1]);
        }
        okn_close(model);
    }
    printf("%d\n", opened);
    return 0;
}
