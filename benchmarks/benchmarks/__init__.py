"""asv benchmarks, on one thread: what threads gain would hide what the code gains or loses."""

import os

for _library in ("OMP", "OPENBLAS", "MKL", "BLIS"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
