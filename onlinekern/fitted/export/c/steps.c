/* Losses, schedules, rules and samplers: scalar problems, by the names of the core's classes. See
   scoring.c. */

/*** loss_PerceptronLoss ***/
static real loss_value(real f, real y)
{
    return -y * f > 0 ? -y * f : 0;
}

static real loss_slope(real f, real y)
{
    return y * f <= 0 ? y : 0;
}

/*** loss_Hinge ***/
static real loss_value(real f, real y)
{
    return 1 - y * f > 0 ? 1 - y * f : 0;
}

static real loss_slope(real f, real y)
{
    return y * f < 1 ? y : 0;
}

/*** demand_Hinge ***/
static real loss_demand(real f, real y, real weight)
{
    const real gap = SQRT(weight) - y * f;
    return gap > 0 ? y * gap : 0;
}

/*** loss_SquaredHinge ***/
static real loss_value(real f, real y)
{
    const real gap = 1 - y * f > 0 ? 1 - y * f : 0;
    return gap * gap / 2;
}

static real loss_slope(real f, real y)
{
    return 1 - y * f > 0 ? y * (1 - y * f) : 0;
}

/*** loss_SmoothHinge ***/
static real loss_value(real f, real y)
{
    const real gap = 1 - y * f;
    if (gap <= 0)
        return 0;
    return gap <= $delta ? gap * gap / (2 * $delta) : gap - $delta / 2;
}

static real loss_slope(real f, real y)
{
    const real gap = 1 - y * f;
    if (gap <= 0)
        return 0;
    return gap <= $delta ? y * gap / $delta : y;
}

/*** loss_Logistic ***/
static real loss_value(real f, real y)
{
    const real margin = y * f;
    return LOG1P(EXP(-FABS(margin))) + (margin < 0 ? -margin : 0);
}

static real loss_slope(real f, real y)
{
    const real margin = y * f, small = EXP(-FABS(margin));
    return y * (margin > 0 ? small : 1) / (1 + small);
}

/*** loss_Exponential ***/
static real loss_value(real f, real y)
{
    return EXP(-y * f < $most ? -y * f : $most);
}

static real loss_slope(real f, real y)
{
    return y * loss_value(f, y);
}

/*** loss_Squared ***/
static real loss_value(real f, real y)
{
    return (y - f) * (y - f) / 2;
}

static real loss_slope(real f, real y)
{
    return y - f;
}

/*** loss_EpsilonInsensitive ***/
static real loss_value(real f, real y)
{
    const real gap = FABS(y - f) - $epsilon;
    return gap > 0 ? gap : 0;
}

static real loss_slope(real f, real y)
{
    return FABS(y - f) <= $epsilon ? 0 : y > f ? 1 : -1;
}

/*** demand_EpsilonInsensitive ***/
static real loss_demand(real f, real y, real weight)
{
    const real gap = FABS(y - f) - $epsilon / SQRT(weight);
    return gap <= 0 ? 0 : y > f ? gap : -gap;
}

/*** loss_Huber ***/
static real loss_value(real f, real y)
{
    const real gap = FABS(y - f);
    return gap <= $delta ? gap * gap / 2 : $delta * (gap - $delta / 2);
}

static real loss_slope(real f, real y)
{
    const real gap = y - f;
    return gap > $delta ? $delta : gap < -$delta ? -$delta : gap;
}

/*** schedule_Schedule ***/
static real step_size(int64_t t)
{
    (void)t;
    return $eta;
}

/*** schedule_InverseSquareRoot ***/
static real step_size(int64_t t)
{
    return $eta / SQRT((real)t);
}

/*** schedule_Inverse ***/
static real step_size(int64_t t)
{
    return $eta / (real)t;
}

/*** schedule_Power ***/
static real step_size(int64_t t)
{
    return $eta * POW((real)t, -$power);
}

/*** rule_Perceptron ***/
static real rule_coefficient(real f, real y, real q, int64_t t, real importance)
{
    (void)q;
    (void)t;
    return importance * loss_slope(f, y);
}

/*** rule_Gradient ***/
static real rule_coefficient(real f, real y, real q, int64_t t, real importance)
{
    const real slope = loss_slope(f, y);
    (void)q;
    return slope > 0 || slope < 0 ? importance * step_size(t) * slope : 0;
}

/*** rule_MarginPerceptron ***/
static real rule_coefficient(real f, real y, real q, int64_t t, real importance)
{
    (void)q;
    (void)t;
    (void)importance;
    return $coefficient;
}

/*** rule_EverySample ***/
static real rule_coefficient(real f, real y, real q, int64_t t, real importance)
{
    (void)f;
    (void)y;
    (void)q;
    (void)t;
    return importance;
}

/*** rule_BatchPegasos ***/
static real rule_coefficient(real f, real y, real q, int64_t t, real importance)
{
    (void)q;
    return importance * loss_slope(f, y) / ($regularisation * (real)t);
}

/*** rule_InverseTime ***/
/* This is in units of the scale, which is 1/t. */
static real rule_coefficient(real f, real y, real q, int64_t t, real importance)
{
    const real step = importance * loss_slope(f, y) / $regularisation;
    (void)q;
$bounded
}

/*** bounded_step ***/
    const real most = $most * (real)t;
    return step > most ? most : step < -most ? -most : step;

/*** rule_PassiveAggressive ***/
static real rule_coefficient(real f, real y, real q, int64_t t, real importance)
{
    (void)t;
    return q <= 0 ? 0 : loss_demand(f, y, importance) / q;
}

/*** rule_PassiveAggressive1 ***/
static real rule_coefficient(real f, real y, real q, int64_t t, real importance)
{
    const real most = $C * importance, step = q > 0 ? loss_value(f, y) / q : 0;
    (void)t;
    return loss_slope(f, y) * (step < most ? step : most);
}

/*** rule_PassiveAggressive2 ***/
static real rule_coefficient(real f, real y, real q, int64_t t, real importance)
{
    (void)t;
    return q <= 0 ? 0 : loss_slope(f, y) * (loss_value(f, y) / (q + 1 / (2 * $C * importance)));
}

/*** rule_ScaledPassiveAggressive1 ***/
static real rule_coefficient(real f, real y, real q, int64_t t, real importance)
{
    const real step = q > 0 ? loss_value(f, y) / q : 0;
    (void)t;
    return importance * loss_slope(f, y) * $least;
}

/*** rule_ScaledPassiveAggressive2 ***/
static real rule_coefficient(real f, real y, real q, int64_t t, real importance)
{
    (void)t;
    return importance * loss_slope(f, y) * (loss_value(f, y) / (q + 1 / (2 * $C)));
}

/*** travel_Hinge ***/
static real loss_travel(real f, real y, real size)
{
    const real gap = 1 - y * f;
    return gap > 0 ? y * (gap < size ? gap : size) : 0;
}

/*** travel_SquaredHinge ***/
static real loss_travel(real f, real y, real size)
{
    const real gap = 1 - y * f;
    return gap > 0 ? -y * gap * EXPM1(-size) : 0;
}

/*** travel_SmoothHinge ***/
static real loss_travel(real f, real y, real size)
{
    const real gap = 1 - y * f, straight = gap > $delta ? gap - $delta : 0;
    if (gap <= 0)
        return 0;
    return y * (size <= straight ? size
                                 : straight - (gap - straight) * EXPM1((straight - size) / $delta));
}

/*** travel_Logistic ***/
static real loss_travel(real f, real y, real size)
{
    const real margin = y * f;
    real total, x;
    if (margin > 15)
        return y * LOG1P(size * EXP(-margin));
    /* Find the margin x by Newton's method, starting from above. */
    total = margin + EXP(margin) + size;
    x = total <= 1 ? total : LOG(total);
    for (int32_t i = 0; i < 8; i++)
        x -= (x + EXP(x) - total) / (1 + EXP(x));
    return x > margin ? y * (x - margin) : 0;
}

/*** travel_Exponential ***/
static real loss_travel(real f, real y, real size)
{
    const real margin = y * f;
    return y * (margin > 0 ? LOG1P(size * EXP(-margin)) : LOG(EXP(margin) + size) - margin);
}

/*** travel_Squared ***/
static real loss_travel(real f, real y, real size)
{
    return (f - y) * EXPM1(-size);
}

/*** travelled ***/
/* Replace one large step by many small ones: `size` is the step size, and each uses its own
   slope. */
static real travelled(real f, real y, real q, real size, real coefficient)
{
    if (q <= 0)
        return coefficient + size * loss_slope(f, y);
    return coefficient + loss_travel(f + coefficient * q, y, size * q) / q;
}

/*** further_Gradient ***/
static real rule_further(real f, real y, real q, int64_t t, real more, real coefficient)
{
    return travelled(f, y, q, more * step_size(t), coefficient);
}

/*** further_BatchPegasos ***/
static real rule_further(real f, real y, real q, int64_t t, real more, real coefficient)
{
    return travelled(f, y, q, more / ($regularisation * (real)t), coefficient);
}

/*** further_InverseTime ***/
static real rule_further(real f, real y, real q, int64_t t, real more, real coefficient)
{
    const real step = travelled(f, y, q / (real)t, more / $regularisation, coefficient);
$bounded
}

/*** sampler_Sampler ***/
static real sampler(real f, real y, real weight, double *drawn)
{
    (void)f;
    (void)y;
    (void)weight;
    (void)drawn;
    return 1;
}

/*** sampler_WithinMargin ***/
static real sampler(real f, real y, real weight, double *drawn)
{
    (void)weight;
    (void)drawn;
    return y * f < $margin;
}

/*** sampler_LossProportional: generator ***/
static real sampler(real f, real y, real weight, double *drawn)
{
    const real suffered = $suffered;
    const real probability = (suffered < $alpha ? suffered : $alpha) / $beta;
    (void)weight;
    if (*drawn < 0)
        *drawn = uniform();
    return *drawn < (double)probability ? $importance : 0;
}

/*** sampler_SlopeProportional: generator ***/
static real sampler(real f, real y, real weight, double *drawn)
{
    const real slope = weight * FABS(loss_slope(f, y)) / $G;
    const real probability = slope < 1 ? slope : 1;
    if (*drawn < 0)
        *drawn = uniform();
    return *drawn < (double)probability ? 1 / probability : 0;
}
