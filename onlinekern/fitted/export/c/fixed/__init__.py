"""C that predicts in fixed point, with whole numbers of 16 and 32 bits only.

Each number is stored as a whole number q of steps. A step is a power of two, or another value that
the generator folds into a constant. `rows` computes the steps of the features, `terms` the tables
of each term, and `generate` writes the file. `fixed.c` has the functions.
"""
