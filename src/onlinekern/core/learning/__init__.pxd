# The scalar mathematics of a step: loss, step size, rule, gate, and the labels (heads).
