"""Explicit features of a kernel: random Fourier and Nystroem."""
