/* SPA (Lu, Zhao and Hoi 2016) with the gaussian kernel, as a C programmer writes it in an hour: dense
   rows, double, one support vector at a time, exp of the C library. It is what "naive" means in the
   figures that the project quotes, so keep it plain.

   Given the same uniform numbers it learns what SPAClassifier learns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double *rows, *coefficients, *added_at;
    long n, capacity;
} Support;

typedef struct {
    long mistakes, n_support;
    double cumulative_loss;
} Outcome;

static int append(Support *s, const double *x, long d, double coefficient, long t)
{
    if (s->n == s->capacity) {
        long capacity = s->capacity ? 2 * s->capacity : 64;
        double *rows = realloc(s->rows, capacity * d * sizeof(double));
        if (rows) s->rows = rows;
        double *coefficients = realloc(s->coefficients, capacity * sizeof(double));
        if (coefficients) s->coefficients = coefficients;
        double *added_at = realloc(s->added_at, capacity * sizeof(double));
        if (added_at) s->added_at = added_at;
        if (!rows || !coefficients || !added_at) return -1;
        s->capacity = capacity;
    }
    memcpy(s->rows + s->n * d, x, d * sizeof(double));
    s->coefficients[s->n] = coefficient;
    s->added_at[s->n] = t;
    s->n++;
    return 0;
}

static double gaussian(const double *x, const double *z, long d, double gamma)
{
    double square = 0;
    for (long j = 0; j < d; j++) {
        double difference = x[j] - z[j];
        square += difference * difference;
    }
    return exp(-gamma * square);
}

/* Test-then-train over x (n rows of d), y of -1 and +1, with one uniform number per sample.
   Predictions are by the average of the models, steps by the last.
   Returns 0, or -1 when memory ran out. */
int spa_naive(const double *x, const double *y, long n, long d, double gamma, double alpha,
              double beta, double eta, const double *uniforms, Outcome *outcome)
{
    Support s = {0};
    int status = 0;
    memset(outcome, 0, sizeof *outcome);
    for (long t = 1; t <= n && status == 0; t++, x += d, y++) {
        /* A support vector added at step u is in the models u + 1 ... t, t - u of the t averaged. */
        double f = 0, averaged = 0;
        for (long r = 0; r < s.n; r++) {
            double term = s.coefficients[r] * gaussian(x, s.rows + r * d, d, gamma);
            f += term;
            averaged += (t - s.added_at[r]) * term;
        }
        averaged /= t;
        outcome->mistakes += (averaged > 0) != (*y > 0);
        double loss = 1 - *y * f;
        if (loss <= 0) continue;
        outcome->cumulative_loss += loss;
        double probability = (loss < alpha ? loss : alpha) / beta;
        if (uniforms[t - 1] >= probability) continue;
        double step = eta * (1 / probability);
        status = append(&s, x, d, *y * (step < loss ? step : loss), t);
    }
    outcome->n_support = s.n;
    free(s.rows);
    free(s.coefficients);
    free(s.added_at);
    return status;
}
