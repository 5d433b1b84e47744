# The Cholesky factor of a matrix, some columns at a time. May change at minor versions.
