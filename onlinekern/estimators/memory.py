"""The available memory, for models whose size is known in advance."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import scipy.sparse as sp

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

# Models below this size are not compared with the memory, which takes longer than a small fit.
SMALL = 1 << 26
# Where Linux reports the memory of the system.
ROOT = Path("/")
# An unlimited group of version 1 reports a number near 2^63.
UNLIMITED = 1 << 60


class Form(NamedTuple):
    """What a model learns, as far as that decides how large it is."""

    n_features: int
    n_outputs: int
    # Bytes of a number of the samples.
    itemsize: int
    is_sparse: bool

    @classmethod
    def of(cls, X: Any, n_outputs: int) -> "Form":
        """Return the form of a model of so many outputs for samples like X."""
        return cls(X.shape[1], n_outputs, X.dtype.itemsize, sp.issparse(X))


def check_size(
    parameter: str, value: int | float, n_bytes: int | float, n_features: int | None = None
) -> None:
    """Raise MemoryError, before anything is allocated, if a parameter needs more than there is.

    Parameters
    ----------
    parameter : str
    value : int or float
    n_bytes : int or float
        Memory that a model with this value of the parameter takes at least.
    n_features : int, optional
        The number of features, if it counts too.
    """
    if n_bytes < SMALL:
        return
    available = available_memory()
    if n_bytes > available:
        width = "" if n_features is None else f" with {n_features} features"
        raise MemoryError(
            f"{parameter}={value} needs at least {n_bytes / 1e9:.3g} gigabytes of memory{width}, "
            f"and {available / 1e9:.3g} are available"
        )


def available_memory() -> float:
    """Return the bytes to be had: the least of what system, container and limits leave.

    The system's estimate is without swapping. Without an estimate, it is the size of the physical
    memory, or infinity if that is unknown too.
    """
    return max(0.0, min([_system(), *_control_groups(), *_process_limits()]))


def _system() -> float:
    """Return the bytes that the machine has left."""
    found = re.search(r"^MemAvailable: +(\d+) kB", _read("proc/meminfo"), re.M)
    if found:
        return 1024.0 * int(found[1])
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def _control_groups() -> Iterator[float]:
    """Yield the bytes that each control group of this process has left, version 1 or 2 (Linux)."""
    for line in _read("proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if not controllers:
            mount, names = "sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            mount = "sys/fs/cgroup/memory"
            names = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
        else:
            continue
        # In a container the path may be the host's, and the group is mounted at the top.
        group = Path(path.lstrip("/"))
        for folder in (group, *group.parents):
            yield from _left(f"{mount}/{folder}", *names)


def _left(folder: str, limit: str, usage: str, reclaimable: str) -> Iterator[float]:
    """Yield the bytes that one control group has left, if it has a limit."""
    try:
        most, used = int(_read(f"{folder}/{limit}")), int(_read(f"{folder}/{usage}"))
    except ValueError:  # There is no such file, or it says "max".
        return
    if most < UNLIMITED:
        # Files that were read count as used, but give way.
        cached = re.search(rf"^{reclaimable} (\d+)$", _read(f"{folder}/memory.stat"), re.M)
        yield float(most - used + (min(int(cached[1]), used) if cached else 0))


def _process_limits() -> Iterator[float]:
    """Yield the bytes that the limits of the process leave (``ulimit -v`` and ``-d``)."""
    if resource is None:
        return
    # The sizes are in pages: all, resident, shared, text, library, data and stack.
    sizes = [int(size) for size in _read("proc/self/statm").split()] or [0] * 6
    for name, used in (("RLIMIT_AS", sizes[0]), ("RLIMIT_DATA", sizes[5])):
        limit = getattr(resource, name, None)
        soft = resource.RLIM_INFINITY if limit is None else resource.getrlimit(limit)[0]
        if soft != resource.RLIM_INFINITY:
            yield float(soft - used * resource.getpagesize())


def _read(name: str) -> str:
    """Return the text of a file below ROOT; empty if it cannot be read."""
    try:
        return (ROOT / name).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
