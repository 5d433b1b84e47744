"""The scalar mathematics of an update: loss, step size, rule, gate, and the labels (heads)."""
