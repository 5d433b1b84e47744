"""What fitted models compute, as plain arrays, and the code that is generated from it."""
