"""Export of fitted models: what they compute as plain arrays, and code generated from it."""
