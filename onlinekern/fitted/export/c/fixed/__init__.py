"""C that predicts in fixed point: whole numbers of 16 and 32 bits, and no floating ones.

A number is q steps of a power of two, or of a step that the generator folds into a constant.
`rows` measures the steps of the features, `terms` the tables of each term, `generate` writes the
file. The functions are the sections of `fixed.c`.
"""
