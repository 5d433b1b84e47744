/* Budget policies, and the random numbers that they draw. See scoring.c. */

/*** put ***/
/* Store the row as the support vector of a slot, with the coefficients of `update`. */
static void put(int32_t slot, const row *x)
{
    for (int32_t j = 0; j < $features; j++)
        support_vectors[slot * $features + j] = x->values[j];
$norms
    for (int32_t k = 0; k < $outputs; k++) {
        values[k * $length + slot] = coefficients[k] / scale;
$companion
    }
    if (slot == n_support)
        n_support++;
}

/*** admit_grow ***/
static void admit(const row *x, const row *phi)
{
    (void)phi;
    put(n_support, x);
}

/*** admit_refuse ***/
static void admit(const row *x, const row *phi)
{
    (void)phi;
    if (n_support < $bound)
        put(n_support, x);
}

/*** admit_oldest ***/
static void admit(const row *x, const row *phi)
{
    (void)phi;
    put((int32_t)(n_added % $bound), x);
    n_added++;
}

/*** add_at ***/
/* Add a share of the step to the coefficients of a slot. */
static void add_at(int32_t slot, real share)
{
    for (int32_t k = 0; k < $outputs; k++) {
        values[k * $length + slot] += share * coefficients[k] / scale;
$moved
    }
}

/*** admit_quantise ***/
/* Return the slot of the support vector nearest to a row, or -1 if there is none. Kernel values
   fall with the distance. */
static int32_t nearest_slot(const row *phi)
{
    int32_t slot = -1;
    real most = -1;
    for (int32_t r = 0; r < n_support; r++)
        if (phi->values[r] > most) {
            slot = r;
            most = phi->values[r];
        }
    return slot;
}

/* Return whether the row becomes a support vector. If the set is full or the row is near a
   support vector, the coefficients of the nearest one change instead. */
static int is_added(const row *phi)
{
    const int32_t slot = nearest_slot(phi);
    return slot < 0 || !($full || phi->values[slot] >= $similarity);
}

static void admit(const row *x, const row *phi)
{
    if (is_added(phi))
        put(n_support, x);
    else
        add_at(nearest_slot(phi), 1);
}

/*** admit_nearest ***/
/* In a full set, project the step onto the nearest support vector. If the row is far from all of
   them, it replaces the oldest. */
static void admit(const row *x, const row *phi)
{
    const real length = length_of(x);
    int32_t slot = -1;
    if (n_support == $bound) {
        real most = -1;
        for (int32_t r = 0; r < $bound; r++) {
            const real value = phi->values[r];
            const real square = lengths[r] > 0 ? value * value / lengths[r] : -1;
            if (square > most) {
                slot = r;
                most = square;
            }
        }
    }
    if (slot >= 0) {
        const real share = phi->values[slot] / lengths[slot];
        if (share * phi->values[slot] >= $least * length) {
            add_at(slot, share);
            return;
        }
    }
    slot = (int32_t)(n_added % $bound);
    lengths[slot] = length;
    put(slot, x);
    n_added++;
}

/*** admit_random ***/
static void admit(const row *x, const row *phi)
{
    (void)phi;
    put(n_support < $bound ? n_support : (int32_t)(uniform() * $bound), x);
}

/*** admit_uniform ***/
static void admit(const row *x, const row *phi)
{
    int32_t slot = n_support;
    (void)phi;
    if (n_support == $bound) {
        slot = (int32_t)(uniform() * $bound);
$rescale
    }
    put(slot, x);
}

/*** admit_nonuniform ***/
/* Evict a random support vector, with a probability p that is larger for small coefficients.
   Divide the coefficients of the others by 1 - p. */
static void admit(const row *x, const row *phi)
{
    int32_t slot = n_support;
    (void)phi;
    if (n_support == $bound) {
        real total_of = 0;
        for (int32_t r = 0; r < $bound; r++)
            total_of += norm_of(r);
        do
            slot = (int32_t)(uniform() * $bound);
        while ($bound > 1 && uniform() >= (double)(1 - norm_of(slot) / total_of));
        for (int32_t r = 0; r < $bound && $bound > 1 && total_of > 0; r++) {
            const real rest = $bound - 2 + norm_of(r) / total_of;
            for (int32_t k = 0; k < $outputs; k++)
                values[k * $length + r] *= ($bound - 1) / rest;
        }
$rescale
    }
    put(slot, x);
}

/*** clip_coefficients ***/
        for (int32_t j = 0; j < $outputs * $length; j++) {
            const real limit = $limit / scale;
            values[j] = values[j] > limit ? limit : values[j] < -limit ? -limit : values[j];
        }

/*** admit_cheapest ***/
/* Replace the support vector whose removal costs least by its projection on the sample. */
static void admit(const row *x, const row *phi)
{
    const real length = length_of(x);
    int32_t slot = n_support;
    if (n_support == $bound) {
        real least = 0;
        slot = -1;
        for (int32_t r = 0; r < $bound; r++) {
            real square_of = 0, cost;
            for (int32_t k = 0; k < $outputs; k++)
                square_of += values[k * $length + r] * values[k * $length + r];
            cost = square_of * (lengths[r] - phi->values[r] * phi->values[r] / length);
            if (slot < 0 || cost < least) {
                slot = r;
                least = cost;
            }
        }
        for (int32_t k = 0; k < $outputs; k++)
            coefficients[k] += phi->values[slot] / length * scale * values[k * $length + slot];
    }
    lengths[slot] = length;
    put(slot, x);
}

/*** generator ***/
/* Return a random number in [0, 1) with 53 bits (xoshiro256++, Blackman and Vigna 2021). */
static double uniform(void)
{
    const uint64_t sum = generator[0] + generator[3];
    const uint64_t result = ((sum << 23) | (sum >> 41)) + generator[0];
    const uint64_t shifted = generator[1] << 17;
    generator[2] ^= generator[0];
    generator[3] ^= generator[1];
    generator[1] ^= generator[2];
    generator[0] ^= generator[3];
    generator[2] ^= shifted;
    generator[3] = (generator[3] << 45) | (generator[3] >> 19);
    return (double)(result >> 11) * (1.0 / 9007199254740992.0);
}
