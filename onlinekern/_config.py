"""What is installed here: the version, the headers, the instruction set."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def version() -> str:
    """The version of the library, which its metadata tell."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("onlinekern")
    except PackageNotFoundError:
        # In the source folder, importing the core says what to do.
        import onlinekern.core  # noqa: F401

        raise


def get_include() -> str:
    """Folder with the C headers, for compiled packages that build on this one (docs/c_api.md).

    An editable install has them elsewhere; build on an installed library.
    """
    return str(Path(__file__).parent / "include")


def show_config(mode: str = "stdout") -> dict[str, Any] | None:
    """Version, and the instruction set that the compiled core runs on.

    The environment variable ``ONLINEKERN_ISA``, read at import, forces one of the available sets.

    Parameters
    ----------
    mode : {'stdout', 'dicts'}, default='stdout'
        Print, or return a dictionary with 'version', 'instruction_set' and 'available' (what this
        machine can run, best first).

    Returns
    -------
    dict or None
        None if the configuration is printed.

    Raises
    ------
    ValueError
        If `mode` is another one.
    """
    if mode not in ("stdout", "dicts"):
        raise ValueError(f"mode must be 'stdout' or 'dicts', got {mode!r}")
    from onlinekern.core.base.vector import available_levels, level

    config = {"version": version(), "instruction_set": level(), "available": available_levels()}
    if mode == "dicts":
        return config
    available = ", ".join(config["available"])
    print(f"onlinekern {version()}, instruction set {level()} (available: {available})")
    return None
