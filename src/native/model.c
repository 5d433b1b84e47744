/* The model that a file describes: its parts, its labels and its counters. */
#include "forest.h"
#include "scalers.h"
#include "squares.h"
#include "tree.h"

#include <math.h>
#include <stdlib.h>

static const char *const NO_NUMBERS = "its rule has no such numbers";

/* Factors of the coefficients, one for each class. */
static int read_factors(okn_t *model, const json_value *node)
{
    const file_array *array = okn_tree_array(model, node, "F64", model->n_classes);
    const json_value *items = okn_json_get(&model->file.tree, node, "items");
    model->has_factors = 1;
    model->class_factors = array ? okn_tree_numbers(array, model->n_classes, 0)
                                 : calloc((size_t)model->n_classes + 1, sizeof(real));
    if (!model->class_factors || (!array && (!items || items->count != model->n_classes)))
        return okn_tree_damaged(model, "its class weights are none");
    for (int32_t k = 0; !array && k < model->n_classes; k++)
        if (okn_tree_real(model, okn_tree_item(model, node, "items", k), &model->class_factors[k])
                < 0
            || !isfinite(model->class_factors[k]))
            return okn_tree_damaged(model, "its class weights are none");
    return 0;
}

static int read_head(okn_t *model, const json_value *node)
{
    const json_value *name = okn_tree_class(model, node), *inner = node;
    const int is_weighted = okn_json_is(name, "Weighted");
    if (is_weighted) {
        inner = okn_tree_argument(model, node, 0);
        name = okn_tree_class(model, inner);
    }
    model->head = okn_head(name);
    if (!model->head || (model->squares && is_weighted)
        || (!model->squares && !model->forest && !model->head->solve))
        return okn_tree_unknown_class(model, "how it joins its outputs", name);
    model->standardised = okn_json_is(name, "Standardized");
    model->one_factor = !okn_json_is(name, "OneVsRest");
    if (okn_json_is(name, "Binary") ? model->n_classes != 2 || model->n_outputs != 1
        : okn_json_is(name, "Head") || model->standardised
            ? model->n_classes != 0 || model->n_outputs != 1
            : model->n_classes < 2 || model->n_classes != model->n_outputs)
        return okn_tree_damaged(model, "it has another number of classes than of outputs");
    if (model->squares && model->n_outputs > 1 && !model->head->margin)
        return okn_tree_unknown_class(model, "how it joins its outputs", name);
    if (model->standardised
        && okn_tree_real(model, okn_tree_argument(model, inner, 0), &model->forgetting))
        return okn_tree_damaged(model, "its head has no such number");
    return is_weighted ? read_factors(model, okn_tree_argument(model, node, 1)) : 0;
}

static int read_targets(okn_t *model, const json_value *node)
{
    real *numbers[] = {&model->target.weight, &model->target.mean, &model->target.squares,
                       &model->target.scale, &model->target.far};
    model->target.scale = 1;
    model->target.far = 0;
    if (!model->standardised)
        return 0;
    model->target_fixed = okn_tree_true(okn_tree_item(model, node, "items", 0));
    for (int32_t j = 0; j < 5; j++) {
        const json_value *number = okn_tree_item(model, node, "items", j + 1);
        /* Former versions counted none that were far off. */
        if (okn_json_real(number, numbers[j]) < 0 && (j < 4 || number))
            return okn_tree_damaged(model, "the mean and the scale of its targets are none");
    }
    return 0;
}

static int read_loss(okn_t *model, const json_value *node)
{
    const json_value *name = okn_tree_class(model, node);
    model->loss = okn_loss(name);
    if (!model->loss) {
        okn_forbid_class(model, "its loss", name);
        return 0;
    }
    if (okn_json_is(name, "EpsilonInsensitive"))
        return okn_json_real(okn_tree_argument(model, node, 0), &model->loss_epsilon);
    if (okn_json_is(name, "SmoothHinge") || okn_json_is(name, "Huber"))
        return okn_json_real(okn_tree_argument(model, node, 0), &model->loss_delta);
    return 0;
}

static int read_schedule(okn_t *model, const json_value *node)
{
    model->schedule = okn_schedule(okn_tree_class(model, node));
    if (!model->schedule) {
        okn_forbid_class(model, "its schedule", okn_tree_class(model, node));
        return 0;
    }
    return okn_json_real(okn_tree_argument(model, node, 0), &model->eta)
           | (okn_json_is(okn_tree_class(model, node), "Power")
              && okn_json_real(okn_tree_argument(model, node, 1), &model->power_of_time));
}

/* The quantile of a normal variable for a probability above a half. */
static real quantile_of(double probability)
{
    double least = 0, most = 40, middle = 20;
    while (middle > least && middle < most) {
        if (erfc(middle / sqrt(2.0)) / 2 > 1 - probability)
            least = middle;
        else
            most = middle;
        middle = (least + most) / 2;
    }
    return middle;
}

static int read_confidence(okn_t *model, const json_value *node)
{
    double confidence;
    if (okn_json_real(okn_tree_argument(model, node, 1), &confidence) < 0
        || !(confidence > 0.5 && confidence < 1))
        return -1;
    model->rule_phi = quantile_of(confidence);
    if (!okn_tree_argument(model, node, 2)) /* CW */
        return 0;
    return okn_tree_real(model, okn_tree_argument(model, node, 2), &model->rule_C) < 0
                   || !(model->rule_C > 0)
               ? -1
               : 0;
}

static int read_rule(okn_t *model, const json_value *node)
{
    static const json_value perceptron = {.kind = JSON_TEXT, .text = "PerceptronLoss", .size = 14};
    static const json_value hinge = {.kind = JSON_TEXT, .text = "Hinge", .size = 5};
    const json_value *name = okn_tree_class(model, node);
    int wrong = 0;
    if (model->squares && okn_json_is(name, "LeastSquares"))
        return read_loss(model, okn_tree_argument(model, node, 0))
                   ? okn_tree_damaged(model, NO_NUMBERS)
                   : 0;
    model->rule = model->squares ? NULL : okn_rule(name);
    if (!model->rule
        || (!model->forest && model->second_order != (model->rule->contraction != NULL))) {
        okn_forbid_class(model, "its rule", name);
        return 0;
    }
    if (okn_json_is(name, "Perceptron") || okn_json_is(name, "MarginPerceptron")) {
        model->margins = okn_tree_true(okn_tree_argument(model, node, 0));
        model->loss = okn_loss(model->margins ? &hinge : &perceptron);
        return 0;
    }
    wrong |= read_loss(model, okn_tree_argument(model, node, 0));
    if (okn_json_is(name, "Gradient") || okn_json_is(name, "Pegasos")) {
        wrong |= read_schedule(model, okn_tree_argument(model, node, 1));
        wrong |= okn_tree_real(model, okn_tree_argument(model, node, 2), &model->regularisation);
    } else if (model->rule->confidence) {
        wrong |= read_confidence(model, node);
    } else if (okn_json_is(name, "AROW")) {
        wrong |= okn_tree_real(model, okn_tree_argument(model, node, 1), &model->rule_r);
    } else if (!okn_json_is(name, "PassiveAggressive") && !okn_json_is(name, "EverySample")) {
        wrong |= okn_tree_real(model, okn_tree_argument(model, node, 1), &model->rule_C);
    } else if (okn_json_is(name, "PassiveAggressive") && model->loss && !model->loss->demand) {
        okn_forbid(model, "its rule is not known for this loss");
    }
    return wrong ? okn_tree_damaged(model, NO_NUMBERS) : 0;
}

static int read_sampler(okn_t *model, const json_value *node)
{
    const json_value *name = okn_tree_class(model, node);
    real *numbers[3] = {NULL, NULL, NULL};
    model->sampler = okn_sampler(name);
    if (!model->sampler)
        okn_forbid_class(model, "its sampler", name);
    if (okn_json_is(name, "WithinMargin"))
        numbers[0] = &model->margin;
    if (okn_json_is(name, "SlopeProportional"))
        numbers[0] = &model->largest_slope;
    if (okn_json_is(name, "LossProportional")) {
        numbers[0] = &model->alpha;
        numbers[1] = &model->beta;
        numbers[2] = &model->sampler_weighted;
    }
    model->sampler_weighted = 1; /* unless it says otherwise */
    for (int32_t j = 0; j < 3; j++)
        if (numbers[j] && (j < 2 || okn_tree_argument(model, node, j))
            && okn_tree_real(model, okn_tree_argument(model, node, j), numbers[j]) < 0)
            return okn_tree_damaged(model, "its sampler has no such numbers");
    return 0;
}

static int read_generator(okn_t *model, const json_value *node)
{
    const json_value *words = okn_tree_argument(model, node, 0);
    for (int32_t j = 0; j < 4; j++) {
        const json_value *word = okn_tree_item(model, words, "items", j);
        int64_t plain;
        if (word && word->kind == JSON_NUMBER && okn_json_whole(word, &plain) == 0)
            model->generator[j] = (uint64_t)plain;
        else if (okn_json_hex(okn_json_get(&model->file.tree, word, "hex"), &model->generator[j])
                 < 0)
            return okn_tree_damaged(model, "its random numbers have no state");
    }
    return 0;
}

/* The parts of the step, once the space is known. */
static int read_parts(okn_t *model, const json_value *node, const json_value *told)
{
    int status = read_head(model, okn_tree_item(model, told, "items", 1));
    if (!status)
        status = read_rule(model, model->forest ? model->forest->rule
                                                : okn_tree_item(model, told, "items", 2));
    if (!status)
        status = read_sampler(model, okn_tree_item(model, told, "items", 3));
    if (!status)
        status = read_generator(model, okn_tree_item(model, told, "items", 4));
    if (!status)
        status = read_targets(model, okn_tree_argument(model, node, 5));
    if (status)
        return status;
    if (okn_json_whole(okn_tree_argument(model, node, 1), &model->seen) < 0 || model->seen < 0)
        return okn_tree_damaged(model, "its count of samples is none");
    model->first_seen = model->seen;
    if (okn_json_whole(okn_tree_argument(model, node, 6), &model->lead) < 0 || model->lead < 0)
        model->lead = 0;
    return 0;
}

static int read_model(okn_t *model, const json_value *node)
{
    const json_value *told = okn_tree_argument(model, node, 0);
    const json_value *dtype =
        okn_json_get(&model->file.tree, okn_tree_item(model, told, "items", 6), "dtype");
    int status;
    if (!okn_json_is(okn_json_get(&model->file.tree, node, "object"), "Model"))
        return okn_tree_unknown(model,
                                "only single models are known: no races, and none that has not "
                                "learnt yet");
    if (okn_tree_size(okn_tree_item(model, told, "items", 5), 1, INT32_MAX / 8, &model->n_features)
        < 0)
        return okn_tree_damaged(model, "its number of features is none");
    model->is_single = okn_json_is(dtype, "<f4");
    if (!model->is_single && !okn_json_is(dtype, "<f8"))
        return okn_tree_damaged(model, "its numbers are of no known type");
    status = okn_make_space(model, okn_tree_item(model, told, "items", 0));
    return status ? status : read_parts(model, node, told);
}

/* What is told of a model that begins anew at alarms, NULL of others. */
static int read_trials(okn_t *model, const json_value *renewed)
{
    const json_value *rival;
    if (!renewed)
        return 0;
    rival = okn_tree_argument(model, renewed, 2);
    if (okn_json_whole(okn_tree_argument(model, renewed, 4), &model->began) < 0 || model->began < 0)
        return okn_tree_damaged(model, "its count of samples is none");
    if (!rival || rival->kind != JSON_NULL)
        okn_forbid(model, "a second model learns beside it since an alarm: let both learn in Python "
                          "until one of them is left");
    return 0;
}

static int make_scratch(okn_t *model)
{
    const size_t outputs = (size_t)model->n_outputs, stride = (size_t)model->stride;
    real **rows[] = {&model->current, &model->predicting, &model->coefficients,
                     &model->squared_lengths, &model->contractions};
    for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
        *rows[j] = calloc(outputs, sizeof(real));
        if (!*rows[j])
            return okn_fail(model, OKN_NO_MEMORY, "no memory");
    }
    model->dense_row = calloc((size_t)model->n_features, sizeof(real));
    model->features = calloc(stride, sizeof(real));
    model->directions = calloc(model->second_order ? outputs * stride : 1, sizeof(real));
    if (!model->dense_row || !model->features || !model->directions)
        return okn_fail(model, OKN_NO_MEMORY, "no memory");
    return 0;
}

/* Whether an attribute holds something: an empty tuple does not. */
static int is_there(const okn_t *model, const json_value *value)
{
    const json_value *items = okn_json_get(&model->file.tree, okn_tree_node(model, value), "items");
    return value && !(items && items->count == 0);
}

/* Whether categories have names: they are pairs of a feature and these, or None. */
static int have_names(const okn_t *model, const json_value *value)
{
    const json_value *node = okn_tree_node(model, value);
    const json_value *items = okn_json_get(&model->file.tree, node, "items");
    for (int32_t j = 0; items && j < items->count; j++) {
        const json_value *names =
            okn_tree_item(model, okn_tree_item(model, node, "items", j), "items", 1);
        if (!names || names->kind != JSON_NULL)
            return 1;
    }
    return 0;
}

int okn_make(okn_t *model)
{
    static const struct {
        const char *key, *text;
    } others[] = {
        {"_recent", "detectors are not known"},
        {"_waiting", "models whose samples wait are not known"},
        {"encoder_", "tables of columns (its encoder) are not known"},
    };
    const json *tree = &model->file.tree;
    const json_value *nodes = &tree->values[0], *last = okn_json_at(tree, nodes, nodes->count - 1);
    const json_value *own, *weights;
    int status = 0;
    if (okn_json_is(okn_tree_class(model, last), "StreamPipeline"))
        status = okn_scalers_find(model, last, &last);
    if (status)
        return status;
    model->learner = last;
    own = okn_json_get(tree, last, "attributes");
    if (!okn_tree_is(model, last, "object") || !okn_json_get(tree, own, "_model"))
        return okn_tree_unknown(model, "only learners that have learnt are known");
    for (size_t j = 0; j < sizeof others / sizeof *others; j++)
        if (is_there(model, okn_json_get(tree, own, others[j].key)))
            return okn_tree_unknown(model, others[j].text);
    if (have_names(model, okn_json_get(tree, own, "_categories")))
        return okn_tree_unknown(model, "categories that have names are not known");
    if (okn_json_get(tree, own, "classes_"))
        status = okn_read_labels(model, okn_tree_node(model, okn_json_get(tree, own, "classes_")));
    if (!status)
        status = read_model(model, okn_tree_model(model));
    if (!status)
        status = read_trials(model, okn_tree_renewed(model));
    if (!status)
        status = okn_scalers_read(model);
    if (status)
        return status;
    weights = okn_json_get(tree, okn_json_get(tree, last, "parameters"), "class_weight");
    if (weights && weights->kind != JSON_NULL && !model->has_factors)
        status = okn_read_class_weight(model, okn_tree_node(model, weights));
    if (status)
        return status;
    if (okn_json_get(tree, own, "_warm_up"))
        okn_forbid(model, "the width of its kernel is not settled yet: set gamma, or learn more samples");
    return make_scratch(model);
}
