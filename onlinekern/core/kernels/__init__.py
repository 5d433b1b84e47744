"""Support vectors: kernel functions, where the rows are stored, and the look-ahead window."""
