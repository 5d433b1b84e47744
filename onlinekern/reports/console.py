"""The terminal, on which text is printed as it is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

# Arguments with which rich prints text as it is.
PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}
# A piped table has no terminal to ask for its width.
NARROWEST = 80


def open_console(stderr: bool = False) -> Any:
    """Return a console of rich on standard output, or on standard error."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, NARROWEST)
    return console


def put_json(content: Any, path: Any) -> None:
    """Write figures as JSON to a file, or for "-" to standard output."""
    text = json.dumps(content, indent=1, default=str) + "\n"
    if path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        Path(path).write_text(text, encoding="utf-8")
