"""asv benchmarks. Everything runs on one thread: a speed-up by threads is no speed-up of the code."""

import os

for _library in ("OMP", "OPENBLAS", "MKL", "BLIS"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
