/* Nodes of the tree of a file, and what makes a model of them. */
#ifndef OKN_TREE_H
#define OKN_TREE_H

#include "model.h"

/* Note what went wrong; they return OKN_BAD_FILE, OKN_NOT_KNOWN. */
int okn_tree_damaged(okn_t *model, const char *text);
int okn_tree_unknown(okn_t *model, const char *text);
/* OKN_NOT_KNOWN, with the name of a class: "its kernel (PythonKernel) is not known". */
int okn_tree_unknown_class(okn_t *model, const char *what, const json_value *name);
/* The class of the learner, to text of OKN_NAME + 1 bytes; text stays if there is no learner yet. */
void okn_tree_learner(const okn_t *model, char *text);
/* The node that a value stands for: itself, unless it refers to a node; NULL if that is none. */
json_value *okn_tree_node(const okn_t *model, const json_value *value);
/* Item j of a list of a node, of its "arguments", and item `key` of a dictionary, as such. */
json_value *okn_tree_item(const okn_t *model, const json_value *node, const char *list, int32_t j);
json_value *okn_tree_argument(const okn_t *model, const json_value *node, int32_t j);
/* The model of the learner that answers; and what may let it begin anew at alarms, else NULL. */
json_value *okn_tree_model(const okn_t *model);
json_value *okn_tree_renewed(const okn_t *model);
json_value *okn_tree_entry(const okn_t *model, const json_value *node, const char *key);
/* Item `key` of a dictionary as it stands there. */
json_value *okn_tree_value(const okn_t *model, const json_value *node, const char *key);
int okn_tree_is(const okn_t *model, const json_value *node, const char *kind);
json_value *okn_tree_class(const okn_t *model, const json_value *node);
/* A number, which may be infinite, or true or false. 0, or -1. */
int okn_tree_real(const okn_t *model, const json_value *node, double *out);
int okn_tree_true(const json_value *node);
int okn_tree_size(const json_value *value, int64_t least, int64_t most, ptrdiff_t *out);
/* The array of a node, of this dtype and so many elements; NULL if it is none. */
file_array *okn_tree_array(const okn_t *model, const json_value *node, const char *dtype,
                           int64_t count);
/* Finite numbers of an array, in memory of their own with room for more; NULL if there are none
   such, or no memory. */
real *okn_tree_numbers(const file_array *array, int64_t count, int64_t room);

/* What a value, or the one that it refers to, becomes; nothing where it is NULL. */
void okn_tree_set_whole(json_value *value, int64_t number);
void okn_tree_set_real(json_value *value, double number);

/* The labels of the classes, in labels.c, and factors of the weights of samples: class_weight of a
   forest, a dictionary from labels. */
int okn_read_labels(okn_t *model, const json_value *node);
int okn_read_class_weight(okn_t *model, const json_value *node);
/* The numbers of a space, in spaces.c; `n_features` and `is_single` are known. */
int okn_make_space(okn_t *model, const json_value *space);
/* Where feature j of a Fourier map is in a row of a file. */
int64_t okn_place(const okn_t *model, int64_t j);
/* Parts of spaces: a kernel, rows of support vectors with their norms and ages, frequencies. */
int okn_read_kernel_function(okn_t *model, const json_value *node);
int okn_read_vectors(okn_t *model, const json_value *state);
int okn_read_frequencies(okn_t *model, const json_value *map);
/* Support vectors back into their arrays, in save.c. 0, or OKN_NO_MEMORY. */
int okn_set_vectors(okn_t *model, const json_value *state);
/* What a budget policy keeps, in policies.c, and the way back. */
int okn_read_policy(okn_t *model, const json_value *budget);
int okn_set_policy(okn_t *model, const json_value *budget);
/* The model can only be scored, for this reason, or the first that was given; or since it does not
   know a class. */
void okn_forbid(okn_t *model, const char *reason);
void okn_forbid_class(okn_t *model, const char *what, const json_value *name);

#endif
