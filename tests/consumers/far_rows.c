/* The cut of a node whose rows begin behind 2^31 numbers is that of the same rows at the beginning.
   Returns 3 where the system does not give so many addresses. */
#define _GNU_SOURCE
#include "onlinekern/forest_loops.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { ROWS = 40, WIDTH = 70000, VARIED = 20, FAR = 31000 };

extern const ok_forest_table loops;

static void *zeros(size_t count)
{
    void *found = calloc(count, sizeof(float));
    if (!found)
        exit(3);
    return found;
}

/* The cut, where so many rows are in front of the node. */
static ok_cut cut_behind(int32_t before, ptrdiff_t n_numbers)
{
    const size_t n_rows = (size_t)before + ROWS, bytes = n_rows * WIDTH * sizeof(float);
    int32_t order[ROWS], *slope_of = zeros(n_rows);
    float *left = zeros(n_rows * (size_t)n_numbers), *slopes = zeros(WIDTH),
          *weights = zeros(OK_CUT_LANES * (WIDTH + 2 * OK_CUT_LANES)),
          *shares = zeros(WIDTH + OK_CUT_LANES);
    ok_gains *gains = zeros(WIDTH * sizeof(ok_gains) / sizeof(float));
    float *rows = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (rows == MAP_FAILED)
        exit(3);
    for (int32_t i = 0; i < ROWS; i++) {
        order[i] = before + i;
        left[order[i] * n_numbers] = i < ROWS / 2 ? -1.0f : 1.0f;
        for (int32_t j = 0; j < VARIED; j++)
            rows[(ptrdiff_t)order[i] * WIDTH + j] = (float)(i * (j + 7) % ROWS);
    }
    for (int j = 0; j < WIDTH; j++)
        shares[j] = 1;
    ok_cutter cutter = {.rows = rows, .columns = rows, .n_rows = before + ROWS, .width = WIDTH,
                        .n_axes = WIDTH, .n_drawn_from = WIDTH, .slopes = slopes,
                        .slope_of = slope_of, .n_candidates = 10, .left = left,
                        .n_numbers = n_numbers, .order = order, .weights = weights, .shares = {shares, shares},
                        .gains = gains, .seed = 5};
    const ok_cut cut = loops.best_cut(&cutter, 0, ROWS);
    munmap(rows, bytes);
    free(slope_of);
    free(left);
    free(slopes);
    free(weights);
    free(shares);
    free(gains);
    return cut;
}

int main(void)
{
    for (ptrdiff_t n_numbers = 1; n_numbers <= OK_CUT_LANES; n_numbers += OK_CUT_LANES - 1) {
        const ok_cut near = cut_behind(0, n_numbers), far = cut_behind(FAR, n_numbers);
        printf("%g %g, %g %g\n", near.gain, (double)near.at, far.gain, (double)far.at);
        if (!(near.gain > 0 && near.gain == far.gain && near.feature == far.feature
              && near.at == far.at))
            return 1;
    }
    return 0;
}
