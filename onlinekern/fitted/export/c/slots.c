/* Policies that free slots, which later support vectors use again: removal and merging. The age
   of a support vector is its number among all that ever came, from 1 on; a free slot has age 0.
   See scoring.c. */

/*** slots ***/
/* Return a slot for a new support vector: the one freed last, or else the next unused one. */
static int32_t take_slot(void)
{
    int32_t slot = n_support;
    if (n_free > 0)
        slot = free_slots[--n_free];
    else if (slot == $slots)
        slot = 0; /* only after damaged bytes were loaded */
    ages[slot] = ++n_added;
    return slot;
}

/* Free the slot of a support vector. */
static void drop(int32_t slot)
{
    for (int32_t k = 0; k < $outputs; k++) {
        values[k * $length + slot] = 0;
$companion
    }
    ages[slot] = 0;
    free_slots[n_free++] = slot;
}

/*** norm_of ***/
/* Return the Euclidean norm of the coefficients of a slot, without the factor `scale`. */
static real norm_of(int32_t slot)
{
    real square_of = 0;
    for (int32_t k = 0; k < $outputs; k++)
        square_of += values[k * $length + slot] * values[k * $length + slot];
    return SQRT(square_of);
}

/*** smallest ***/
static real size_of(int32_t slot)
{
    return $size;
}

/* Return the slot of the smallest support vector; of equal ones, the oldest. */
static int32_t smallest_slot(void)
{
    int32_t found = 0;
    for (int32_t r = 1; r < n_support; r++) {
        const real gap = size_of(r) - size_of(found);
        if (ages[r] > 0
            && (ages[found] == 0 || gap < 0 || (gap == 0 && ages[r] < ages[found])))
            found = r;
    }
    return found;
}

/*** admit_remove ***/
static void admit(const row *x, const row *phi)
{
    const int32_t slot = take_slot();
    (void)phi;
    lengths[slot] = SQRT(length_of(x));
    put(slot, x);
    if (n_support - n_free > $bound)
        drop(smallest_slot());
}

/*** admit_merge ***/
/* Return a number with the sign of the derivative of the error in h, where L is log kappa. */
static real uphill(real A, real C, real D, real L, real h)
{
    const real k_m = EXP((1 - h) * (1 - h) * L), k_n = EXP(h * h * L);
    return h * k_n * (C * k_m + D * k_n) - (1 - h) * k_m * (A * k_m + C * k_n);
}

/* Find the best point h between two support vectors, for A <= D and C > 0. This is the Illinois
   variant of the secant method, with a bisection in every fourth step. */
static real merge_point(real A, real C, real D, real L)
{
    real low = 0, high = (real)(0.5 - 1e-7), h = 0, f, f_low, f_high;
    int side = 0;
    /* For equal rows, 1/2 is a stationary point: the minimum or, if they are far apart, a
       maximum. */
    if (uphill(A, C, D, L, high) <= 0) {
        low = high;
        high = (real)0.5;
    }
    f_low = uphill(A, C, D, L, low);
    f_high = uphill(A, C, D, L, high);
    if (f_high <= 0)
        return high;
    for (int32_t i = 0; i < 100; i++) {
        h = i % 4 < 3 ? (low * f_high - high * f_low) / (f_high - f_low) : (low + high) / 2;
        f = uphill(A, C, D, L, h);
        if (f == 0 || high - low < $narrow)
            return h;
        if (f < 0) {
            low = h;
            f_low = f;
            f_high = side < 0 ? f_high / 2 : f_high;
            side = -1;
        } else {
            high = h;
            f_high = f;
            f_low = side > 0 ? f_low / 2 : f_low;
            side = 1;
        }
    }
    return h;
}

/* Return the product of the coefficients of two slots, without the factor `scale`. */
static real product_of(int32_t r, int32_t s)
{
    real sum = 0;
    for (int32_t k = 0; k < $outputs; k++)
        sum += values[k * $length + r] * values[k * $length + s];
    return sum;
}

/* Return the log of the kernel value of the smallest support vector with another one. */
static real log_kernel(int32_t slot)
{
    const real value = features[slot];
    return LOG(value > $tiny ? (value < 1 ? value : 1) : $tiny);
}

/* Return the squared error of merging the smallest support vector with another one at the best
   point h. Return -1 if the two cannot be merged. */
static real error_of(int32_t smallest, int32_t slot, real *h)
{
    const real A = product_of(smallest, smallest), C = product_of(smallest, slot);
    const real D = product_of(slot, slot), L = log_kernel(slot);
    real k_m, k_n;
    if (slot == smallest || ages[slot] == 0 || !(C > 0))
        return -1;
    if (!(features[slot] > 0)) {
        *h = 0;
        return A;
    }
    *h = merge_point(A, C, D, L);
    k_m = (1 - *h) * (1 - *h) * L;
    k_n = *h * *h * L;
    return -A * EXPM1(2 * k_m) - D * EXPM1(2 * k_n)
        + 2 * C * EXP(k_m + k_n) * EXPM1(2 * *h * (1 - *h) * L);
}

/* Return the partner for which merging the smallest support vector has the least error; of equal
   ones, the oldest; -1 if there is none. The error is at least 0.49 A (1 - kappa)^2. This bound
   excludes most partners without a search, most of all once the nearest one is known. */
static int32_t partner_of(int32_t smallest, real *h)
{
    const real A = product_of(smallest, smallest);
    int32_t nearest = -1, found;
    real least;
    for (int32_t r = 0; r < n_support; r++)
        if (r != smallest && ages[r] > 0 && product_of(smallest, r) > 0
            && (nearest < 0 || features[r] > features[nearest]))
            nearest = r;
    if (nearest < 0)
        return -1;
    found = nearest;
    least = error_of(smallest, nearest, h);
    for (int32_t r = 0; r < n_support; r++) {
        const real rest = features[r] < 1 ? 1 - features[r] : 0;
        real place = 0, error;
        if (r == nearest || (real)0.49 * A * rest * rest > least)
            continue;
        error = error_of(smallest, r, &place);
        if (error >= 0 && (error < least || (error == least && ages[r] < ages[found]))) {
            found = r;
            least = error;
            *h = place;
        }
    }
    return found;
}

/* If the bound is exceeded, merge the smallest support vector with another one. */
static void admit(const row *x, const row *phi)
{
    row vanishing = {0, 0, $features};
    int32_t smallest, slot;
    real h = 0;
    (void)phi;
    put(take_slot(), x);
    if (n_support - n_free <= $bound)
        return;
    smallest = smallest_slot();
    vanishing.values = support_vectors + smallest * $features;
    kernel_row(&vanishing, features);
    slot = partner_of(smallest, &h);
    if (slot >= 0) {
        const real L = log_kernel(slot);
        const real own = EXP(h * h * L), other = EXP((1 - h) * (1 - h) * L);
        for (int32_t k = 0; k < $outputs; k++)
            values[k * $length + slot] = other * values[k * $length + smallest]
                + own * values[k * $length + slot];
        for (int32_t j = 0; j < $features; j++)
            support_vectors[slot * $features + j]
                = $rounded((1 - h) * support_vectors[slot * $features + j]
                           + h * support_vectors[smallest * $features + j]);
    }
    drop(smallest);
}

/*** beside_look: dot ***/
static real product(const real *numbers, const row *phi)
{
    return dot(numbers, phi);
}

/* Compute the kernel values with the support vectors, followed by the features of the map and a
   1 for the offset. */
static void look(const row *x, row *phi)
{
    kernel_row(x, features);
    for (int32_t i = n_support; i < $slots; i++)
        features[i] = 0;
$beside
    phi->values = features;
    phi->columns = 0;
    phi->n = $length;
}

/*** admit_dual ***/
/* Replace the support vector of a slot by its approximation in the weights of the features. */
static void absorb(int32_t slot)
{
    const row own = {support_vectors + slot * $features, 0, $features};
    real *z = features + $slots;
    map_features(&own, z);
    for (int32_t k = 0; k < $outputs; k++)
        for (int32_t f = 0; f < $count; f++) {
            values[k * $length + $slots + f] += values[k * $length + slot] * z[f];
$absorbed
        }
    drop(slot);
}

static void admit(const row *x, const row *phi)
{
    (void)phi;
    put(take_slot(), x);
$offset
    if (n_support - n_free > $bound)
        for (int32_t i = 0; i < $merged; i++)
            absorb(smallest_slot());
}

/*** offset_step ***/
    for (int32_t k = 0; k < $outputs; k++) {
        values[k * $length + $length - 1] += coefficients[k] / scale;
$companion
    }
