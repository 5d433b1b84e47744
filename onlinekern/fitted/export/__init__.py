"""Export of fitted models: a description of their computation as plain arrays, and code from it."""
