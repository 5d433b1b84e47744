"""The available memory, for models whose size is known in advance."""

import os
import re
from pathlib import Path


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
