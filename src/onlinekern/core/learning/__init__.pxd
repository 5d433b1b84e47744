# The scalar mathematics of an update: loss, step size, rule, sampler, and the labels (heads).
