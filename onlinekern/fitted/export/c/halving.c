/* Policies that shrink all coefficients: the Forgetron and Ahpatron. See scoring.c. */

/*** admit_forgetron ***/
/* Return the factor by which all coefficients shrink before the oldest support vector is
   evicted. It is the largest one that keeps the damage of all evictions within 15/32 of the
   number of steps. */
static real shrinking(int32_t oldest)
{
    const real spare = (real)n_steps * 15 / 32 - damage;
    real size_squared = 0, aligned = 0, a, b, factor = 1;
    for (int32_t k = 0; k < $outputs; k++) {
        const real value = scale * values[k * $length + oldest];
        size_squared += value * value;
        aligned += value * margins[k * $bound + oldest];
    }
    a = size_squared - 2 * aligned;
    b = 2 * SQRT(size_squared);
    if (a + b > spare)
        factor = 2 * spare / (b + SQRT(b * b + 4 * a * spare));
    damage += factor * (factor * a + b);
    return factor;
}

/* Here `margins` holds f at each support vector, without the terms that came before this vector. */
static void admit(const row *x, const row *phi)
{
    const real kappa = length_of(x);
    const int32_t slot = (int32_t)(n_added % $bound);
    real factor = 1;
    n_steps++;
    for (int32_t k = 0; k < $outputs; k++)
        for (int32_t r = 0; r < n_support; r++)
            margins[k * $bound + r] += coefficients[k] * phi->values[r];
    if (n_support == $bound)
        factor = shrinking(slot);
    put(slot, x);
    n_added++;
    for (int32_t k = 0; k < $outputs; k++)
        margins[k * $bound + slot] = coefficients[k] * kappa;
    shrink(factor);
    for (int32_t j = 0; j < $outputs * $bound; j++)
        margins[j] *= factor;
}

/*** admit_halve ***/
/* Compute the kernel values of the support vector of a slot with all support vectors, in
   `features`. */
static void look_at(int32_t slot)
{
    const row own = {support_vectors + slot * $features, 0, $features};
    kernel_row(&own, features);
}

/* Scale f to this squared norm. If the new or the old norm is 0, nothing changes. */
static void scale_to(real wanted)
{
    if (wanted > 0 && norm_squared > 0) {
        shrink(SQRT(wanted / norm_squared));
        norm_squared = wanted;
    }
}

/* Compute the squared norm of f from its support vectors. */
static void measure_norm(void)
{
    norm_squared = 0;
    for (int32_t r = 0; r < n_support; r++) {
        if (ages[r] == 0)
            continue;
        look_at(r);
        for (int32_t k = 0; k < $outputs; k++)
            for (int32_t s = 0; s < n_support; s++)
                norm_squared += scale * values[k * $length + r] * scale
                    * values[k * $length + s] * features[s];
    }
    norm_squared = norm_squared > 0 ? norm_squared : 0;
}

/* Mark the support vectors to be evicted by the size $largest: the smallest ones; of equal ones,
   the oldest. */
static void choose_leaving(void)
{
    for (int32_t r = 0; r < n_support; r++)
        sizes[r] = ages[r] > 0 ? norm_of(r) : $largest;
    for (int32_t leaving = n_support - n_free - $kept; leaving > 0; leaving--)
        sizes[smallest_slot()] = $largest;
}

/* Extend the factor by a support vector that is kept. Also compute f at this vector, and the
   part of f that comes from the evicted ones. */
static void read_kept(int32_t slot)
{
    int32_t m = 0;
    look_at(slot);
    for (int32_t r = 0; r < slot; r++)
        if (sizes[r] < $largest)
            packed[m++] = features[r];
    solve_lower(packed);
    for (int32_t k = 0; k < $outputs; k++) {
        real whole = 0, part = 0;
        for (int32_t r = 0; r < n_support; r++) {
            const real term = scale * values[k * $length + r] * features[r];
            whole += term;
            part += sizes[r] < $largest ? 0 : term;
        }
        margins[k * $length + slot] = whole;
        goals[k * $length + slot] = part;
    }
    append_row(features[slot]);
    n_kept[0]++;
}

/* Project the smaller half of the support vectors onto the larger half, and then evict it. */
static void halve(void)
{
    const real before = norm_squared;
    choose_leaving();
    n_kept[0] = 0;
    for (int32_t r = 0; r < n_support; r++)
        if (sizes[r] < $largest)
            read_kept(r);
    norm_squared = 0;
    for (int32_t k = 0; k < $outputs; k++) {
        int32_t m = 0;
        for (int32_t r = 0; r < n_support; r++)
            if (sizes[r] < $largest)
                packed[m++] = goals[k * $length + r];
        solve_lower(packed);
        solve_upper();
        m = 0;
        for (int32_t r = 0; r < n_support; r++)
            if (sizes[r] < $largest) {
                const real theta = solution[m++], old = scale * values[k * $length + r];
                norm_squared += (old + theta) * (margins[k * $length + r] - $jitter * theta);
                values[k * $length + r] += theta / scale;
            }
    }
    for (int32_t r = 0; r < n_support; r++)
        if (ages[r] > 0 && !(sizes[r] < $largest))
            drop(r);
    scale_to(before);
}

/* Halve a full set before a new support vector is stored. Afterwards, keep f in its ball. */
static void admit(const row *x, const row *phi)
{
    const real kappa = length_of(x);
    if (norm_squared < 0) {
        measure_norm();
        kernel_row(x, features);
    }
    if (n_support - n_free >= $bound) {
        halve();
        kernel_row(x, features);
    }
    for (int32_t k = 0; k < $outputs; k++)
        norm_squared += coefficients[k]
            * (2 * scale * product(values + k * $length, phi) + coefficients[k] * kappa);
    norm_squared = norm_squared > 0 ? norm_squared : 0;
    put(take_slot(), x);
    if (norm_squared > $ball)
        scale_to($ball);
}
