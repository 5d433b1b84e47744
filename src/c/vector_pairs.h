/* Template: passes over the gradient of a dual problem, for minimisers that change one or two
 * variables at a time (SMO). Included by vector_kernels.c with REAL set; the compiler vectorises
 * the plain loops. `n` is a multiple of OK_PANEL. Each pass writes the largest number of each
 * panel, so that the search for the best places reads one number per panel. */

/* The largest of OK_PANEL numbers, which are overwritten. The upper half is folded onto the lower
 * one as long as halves fill registers. */
INLINE double NAME(largest)(double *numbers)
{
    for (int j = 0; j < 32; j++)
        numbers[j] = numbers[j + 32] > numbers[j] ? numbers[j + 32] : numbers[j];
    for (int j = 0; j < 16; j++)
        numbers[j] = numbers[j + 16] > numbers[j] ? numbers[j + 16] : numbers[j];
    for (int j = 0; j < 8; j++)
        numbers[j] = numbers[j + 8] > numbers[j] ? numbers[j + 8] : numbers[j];
    double found = numbers[0];
    for (int j = 1; j < 8; j++)
        found = numbers[j] > found ? numbers[j] : found;
    return found;
}

static double NAME(pair_step)(const void *g_, const void *h_, double c, double *restrict a,
                              const double *restrict up, const double *restrict down, ptrdiff_t n,
                              double *restrict tops)
{
    const REAL *restrict g = g_, *restrict h = h_;
    double high[OK_PANEL], low[OK_PANEL];
    for (int j = 0; j < OK_PANEL; j++)
        low[j] = -INFINITY;
    for (ptrdiff_t p = 0; p < n / OK_PANEL; p++) {
        for (int j = 0; j < OK_PANEL; j++) {
            double value = a[j] - c * ((double)g[j] - (double)h[j]);
            double below = -(value + down[j]);
            a[j] = value;
            high[j] = value + up[j];
            low[j] = below > low[j] ? below : low[j];
        }
        tops[p] = NAME(largest)(high);
        g += OK_PANEL, h += OK_PANEL, a += OK_PANEL, up += OK_PANEL, down += OK_PANEL;
    }
    return -NAME(largest)(low);
}

static void NAME(pair_gains)(const void *g_, double top, double length,
                             const double *restrict lengths, const double *restrict a,
                             const double *restrict down, ptrdiff_t n, double *restrict gains)
{
    const REAL *restrict g = g_;
    double gain[OK_PANEL];
    for (ptrdiff_t p = 0; p < n / OK_PANEL; p++) {
        for (int j = 0; j < OK_PANEL; j++) {
            double gap = top - (a[j] + down[j]);
            double bend = length + lengths[j] - 2 * (double)g[j];
            gap = gap > 0 ? gap : 0;
            gain[j] = gap * gap / (bend > OK_LEAST_BEND ? bend : OK_LEAST_BEND);
        }
        gains[p] = NAME(largest)(gain);
        g += OK_PANEL, lengths += OK_PANEL, a += OK_PANEL, down += OK_PANEL;
    }
}

static double NAME(single_step)(const void *g_, double c, const double *restrict lengths,
                                double *restrict a, const double *restrict up,
                                const double *restrict down, ptrdiff_t n, double *restrict gains)
{
    const REAL *restrict g = g_;
    double gain[OK_PANEL], worst[OK_PANEL];
    for (int j = 0; j < OK_PANEL; j++)
        worst[j] = 0;
    for (ptrdiff_t p = 0; p < n / OK_PANEL; p++) {
        for (int j = 0; j < OK_PANEL; j++) {
            double value = a[j] - c * (double)g[j];
            double high = value + up[j], low = -(value + down[j]);
            double gap = high > low ? high : low;
            a[j] = value;
            gap = gap > 0 ? gap : 0;
            worst[j] = gap > worst[j] ? gap : worst[j];
            gain[j] = gap * gap / (lengths[j] > OK_LEAST_BEND ? lengths[j] : OK_LEAST_BEND);
        }
        gains[p] = NAME(largest)(gain);
        g += OK_PANEL, lengths += OK_PANEL, a += OK_PANEL, up += OK_PANEL, down += OK_PANEL;
    }
    return NAME(largest)(worst);
}
