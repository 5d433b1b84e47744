"""Run asv's benchmarks on one thread: the gain of threads would hide that of the code."""

import os

for _library in ("OMP", "OPENBLAS", "MKL", "BLIS"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
