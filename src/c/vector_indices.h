/* Checks the indices of a CSR matrix, at the speed of memory. */

/* Rows that are checked together: their columns are still in the cache when pairs at the ends of
 * rows are read again. */
#define CHECKED_ROWS 512

/* Counts the columns that are not larger than the one before; columns[-1] must exist. Sets *outside
 * to 1 if a column is not in [0, d). */
static ptrdiff_t descents(const int32_t *columns, ptrdiff_t n, int32_t d, uint32_t *outside)
{
    /* No branches and only 32-bit numbers, so that the compiler vectorises the loop. */
    uint32_t beyond = 0, count = 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        beyond |= (uint32_t)columns[k] >= (uint32_t)d;
        count += columns[k] <= columns[k - 1];
    }
    *outside |= beyond;
    return count;
}

static int csr_faults(const int32_t *columns, const int32_t *starts, ptrdiff_t n, int32_t d,
                      int32_t stored)
{
    uint32_t broken = starts[0] != 0, outside = 0;
    ptrdiff_t unsorted = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        broken |= starts[i + 1] < starts[i];
    if (broken || starts[n] > stored)
        return OK_CSR_STARTS;
    for (ptrdiff_t first = 0; first < n; first += CHECKED_ROWS) {
        ptrdiff_t end = first + CHECKED_ROWS < n ? first + CHECKED_ROWS : n;
        int32_t from = starts[first], until = starts[end], before = from > 0 ? from - 1 : 0;
        if (from == until)
            continue;
        if (from == 0)
            outside |= (uint32_t)columns[from++] >= (uint32_t)d;
        unsorted += descents(columns + from, until - from, d, &outside);
        /* Subtract pairs of columns from two rows. Empty rows share a start, which counts once. */
        for (ptrdiff_t i = first; i < end; i++) {
            int32_t k = starts[i];
            if (before < k && k < until)
                unsorted -= columns[k] <= columns[k - 1];
            before = k;
        }
    }
    return (outside ? OK_CSR_COLUMNS : 0) | (unsorted ? OK_CSR_ORDER : 0);
}
