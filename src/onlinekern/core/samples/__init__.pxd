# Samples as the core sees them: pointers to dense or CSR rows of float32 or float64.
