"""Versions of what ran, and the memory that it took."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("numpy", "scipy", "scikit-learn", "typer", "rich", "matplotlib", "pyarrow")


def versions() -> Iterator[tuple[str, str]]:
    """Yield names and versions of Python and of the packages that the commands use."""
    yield "Python", platform.python_version()
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            yield package, "not installed"


def peak_memory() -> int | None:
    """Return the most bytes of memory that the process has had; None if the system hides it."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def in_bytes(number: float) -> str:
    """Return a number of bytes in a unit of three digits or fewer."""
    units = ["B", "kB", "MB", "GB"]
    while number >= 1000 and len(units) > 1:
        number, units = number / 1000, units[1:]
    return f"{number:.3g} {units[0]}" if number < 1000 else f"{number:,.0f} {units[0]}"
