"""asv benchmarks, on one thread: the gain of threads would hide the gain or loss of the code."""

import os

for _library in ("OMP", "OPENBLAS", "MKL", "BLIS"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
