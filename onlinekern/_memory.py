"""The available memory, for models whose size is known in advance."""

import os
import re
from pathlib import Path

# Models below this size are not compared with the memory, which takes longer than a small fit.
SMALL = 1 << 26


def check_size(parameter: str, value: int, n_bytes: int) -> None:
    """Raise MemoryError, before anything is allocated, if a parameter needs more than there is.

    Parameters
    ----------
    parameter : str
    value : int
    n_bytes : int
        Memory that a model with this value of the parameter takes at least.
    """
    if n_bytes < SMALL:
        return
    available = available_memory()
    if n_bytes > available:
        raise MemoryError(
            f"{parameter}={value} needs at least {n_bytes / 1e9:.3g} gigabytes of memory, and "
            f"{available / 1e9:.3g} are available"
        )


def available_memory() -> float:
    """Bytes that can be allocated without swapping, as the operating system estimates.

    Without an estimate, the size of the physical memory; infinity if that is unknown too.
    """
    try:
        status = Path("/proc/meminfo").read_text(encoding="ascii")
        found = re.search(r"^MemAvailable: +(\d+) kB", status, re.M)
        if found:
            return 1024 * int(found[1])
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return float("inf")
