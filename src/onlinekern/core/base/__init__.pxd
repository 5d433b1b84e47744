# Roots: immutable parts, vector primitives, random numbers, the undo of a call that fails.
