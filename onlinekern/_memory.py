"""How much memory there is, for models whose size is known before they are made."""

import os
import re
from pathlib import Path


def available_memory() -> float:
    """Bytes that can be had without swapping, as the system estimates it.

    Where it gives no estimate, all of its memory; infinity where even that cannot be asked for.
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
