/* Trees of generated files. See scoring.c. */

/*** scaled_row ***/
/* A row in units of the spread of its features, in double: dates that lie close differ. */
static void ${id}_scale(const real *x)
{
    for (int32_t j = 0; j < $features; j++) {
        const double z = ((double)x[j] - ${id}_center[j]) * ${id}_factor[j];
        ${id}_z[j] = (float)(z > $farthest ? $farthest : z < -$farthest ? -$farthest : z);
    }
$products
}

/*** row_products ***/
    for (int32_t m = 0; m < $directions; m++)
        ${id}_z[$features + m] = 0;
    for (int32_t j = 0; j < $features; j++)
        for (int32_t m = 0; m < $directions; m++) {
            /* Two statements, which are rounded twice. */
            const float product = ${id}_z[j] * ${id}_directions[j * $directions + m];
            ${id}_z[$features + m] += product;
        }

/*** trees ***/
/* The weights of the leaf of each tree. A node is followed by its left subtree, and that by the
   right one; a subtree of n nodes has n + 1 leaves. */
static void ${id}_add(const row *x, real *scores)
{
    const ${id}_node *tree = ${id}_nodes;
    const real *weights = ${id}_weights;
    ${id}_scale(x->values);
    for (int32_t t = 0; t < $trees; t++) {
        int32_t at = 0, end = ${id}_sizes[t], leaf = 0;
        while (at < end) {
            const int32_t behind = at + 1 + tree[at].left;
            const int is_right = ${id}_z[tree[at].feature] > tree[at].cut;
            leaf += is_right ? behind - at : 0;
            at = is_right ? behind : at + 1;
            end = is_right ? end : behind;
        }
        for (int32_t k = 0; k < $outputs; k++)
            scores[k] += weights[leaf * $outputs + k];
        tree += ${id}_sizes[t];
        weights += (${id}_sizes[t] + 1) * $outputs;
    }
}
