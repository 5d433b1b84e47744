/* Scaling of rows, products with directions, and kurtosis: included by forest_loops.c. */

typedef double doubles8 __attribute__((vector_size(8 * LANES)));
typedef int64_t longs8 __attribute__((vector_size(8 * LANES)));

INLINE float scaled(double x, double center, double factor)
{
    double z = (x - center) * factor;
    z = OK_FARTHEST < z ? OK_FARTHEST : z;
    z = z < -OK_FARTHEST ? -OK_FARTHEST : z;
    return x == x ? (float)z : 0;
}

static void scale_row(const void *x, ptrdiff_t itemsize, const double *center,
                      const double *factor, ptrdiff_t d, float *z)
{
    const float *singles = x;
    const double *doubles = x;
    if (itemsize == sizeof(float))
        for (ptrdiff_t j = 0; j < d; j++)
            z[j] = scaled((double)singles[j], center[j], factor[j]);
    else
        for (ptrdiff_t j = 0; j < d; j++)
            z[j] = scaled(doubles[j], center[j], factor[j]);
}

/* Rows whose sums are interleaved: each addition to a single sum would wait for the one before. */
#if defined(__AVX2__)
#define ROWS_ABREAST 8
#else
#define ROWS_ABREAST 4
#endif

/* Write the products of n_rows rows with all directions; n_rows is a constant where it is inlined. */
INLINE void direct_few(const int n_rows, float *z, ptrdiff_t width, const float *directions,
                       ptrdiff_t n_axes)
{
    numbers8 sums[ROWS_ABREAST] = {{0}};
    for (ptrdiff_t j = 0; j < n_axes; j++) {
        numbers8 direction = load8(directions + j * LANES);
        UNROLL
        for (int i = 0; i < n_rows; i++)
            sums[i] += z[i * width + j] * direction;
    }
    UNROLL
    for (int i = 0; i < n_rows; i++)
        memcpy(z + i * width + n_axes, &sums[i], sizeof sums[i]);
}

static void direct_rows(float *z, ptrdiff_t n, ptrdiff_t width, const float *directions,
                        ptrdiff_t n_axes)
{
    for (; n >= ROWS_ABREAST; n -= ROWS_ABREAST, z += ROWS_ABREAST * width)
        direct_few(ROWS_ABREAST, z, width, directions, n_axes);
    for (; n > 0; n--, z += width)
        direct_few(1, z, width, directions, n_axes);
}

/* Eight numbers from u[i] on; NaN, which is within no bounds, replaces those after the last. */
INLINE doubles8 doubles_at(const double *u, ptrdiff_t i, ptrdiff_t n)
{
    doubles8 v;
    for (int k = 0; k < LANES && i + LANES > n; k++)
        v[k] = i + k < n ? u[i + k] : NAN;
    if (i + LANES <= n)
        memcpy(&v, u + i, sizeof v);
    return v;
}

/* The sum of (u - center)^power over all u in [least, most]; power is 0, 1, 2 or 4. */
INLINE double sum_of_powers(const int power, const double *u, ptrdiff_t n, double least,
                            double most, double center)
{
    doubles8 sum = {0};
    double total = 0;
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        doubles8 v = doubles_at(u, i, n), distance = v - center, term = distance;
        longs8 within = (v >= least) & (v <= most);
        if (power == 0)
            term = (doubles8){0} + 1;
        else if (power > 1)
            term *= distance;
        if (power == 4)
            term *= term;
        sum += (doubles8)((longs8)term & within);
    }
    for (int k = 0; k < LANES; k++)
        total += sum[k];
    return total;
}

static double kurtosis(const double *u, ptrdiff_t n, double reach)
{
    double least = -INFINITY, most = INFINITY, count = 0, mean = 0, squares = 0;
    for (int turn = 0; turn < 3; turn++) {
        count = sum_of_powers(0, u, n, least, most, 0);
        mean = sum_of_powers(1, u, n, least, most, 0) / (count > 1 ? count : 1);
        squares = sum_of_powers(2, u, n, least, most, mean);
        if (turn < 2) {
            double far = reach * sqrt(squares / (count > 1 ? count : 1));
            least = mean - far > least ? mean - far : least;
            most = mean + far < most ? mean + far : most;
        }
    }
    return squares > 0
        ? count * sum_of_powers(4, u, n, least, most, mean) / (squares * squares) - 3 : 0;
}
