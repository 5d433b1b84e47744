"""The entry point of the command ``onlinekern``.

It answers bad input with one line on standard error and exit code 2, never with a traceback, and
needs nothing but the standard library until the optional packages are known to be there.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, NoReturn

BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
# A package that is missing -> the extra that brings it.
OPTIONAL = {
    **dict.fromkeys(("typer", "rich", "matplotlib", "pyarrow"), "cli"),
    **dict.fromkeys(("starlette", "uvicorn"), "serve"),
}


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code.

    Parameters
    ----------
    arguments : list of str, optional
        What stands in the place of ``sys.argv[1:]``.
    """
    sys.exit(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    """Answer a call; return its exit code."""
    _open_outputs()
    try:
        _answer(arguments)
        sys.stdout.flush()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # What is still buffered would break again, loudly, when the interpreter flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in OPTIONAL:
            raise
        return _fail(f"this needs {package}: pip install 'onlinekern[{OPTIONAL[package]}]'")
    except OSError as error:
        if error.strerror is None:
            return _fail(str(error))
        if error.filename is None:
            return _fail(error.strerror)
        return _fail(f"{error.filename or repr('')}: {error.strerror}")
    except (ImportError, ValueError, ArithmeticError) as error:
        return _fail(str(error))
    except MemoryError as error:
        return _fail(str(error) or "out of memory")
    except Exception as error:
        # These are click's, or those of typer's copy of click: their name and method tell.
        if type(error).__name__ == "Abort":
            return INTERRUPTED
        if not hasattr(error, "format_message"):
            raise
        return _fail(error.format_message())


def _answer(arguments: list[str] | None) -> None:
    if (sys.argv[1:] if arguments is None else arguments) == ["--version"]:
        from onlinekern._config import version

        print(f"onlinekern {version()}")
        return
    from onlinekern.cli.app import app
    from onlinekern.cli.options import Request
    from onlinekern.estimators.warnings import SCALES_DIFFER

    with warnings.catch_warnings():
        # A hint says so once, of the whole file, and names the option.
        warnings.filterwarnings("ignore", SCALES_DIFFER)
        # What other packages say of each other, old matplotlib and new pyparsing, say.
        warnings.filterwarnings("ignore", "", DeprecationWarning, "(?!onlinekern)")
        warnings.showwarning = _warning_printer()
        asked = app(arguments, standalone_mode=False, prog_name="onlinekern")
        # It runs here, not below typer: so deep in the stack, Python 3.11 may map memory at
        # every call, which cost `predict` 0.3 s of imports.
        if isinstance(asked, Request):
            asked.run()


def _open_outputs() -> None:
    """Replace outputs that were closed before the start, which Python makes None."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _fail(message: str) -> int:
    # Bytes of a file that is no text could steer the terminal.
    shown = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in " ".join(message.split())
    )
    print(f"onlinekern: error: {shown}", file=sys.stderr)
    return BAD_INPUT


def _warning_printer() -> Any:
    """Return a ``warnings.showwarning`` that prints one line, and the same line only once."""
    printed = set()

    def show(message: str, *place: Any, **more: Any) -> None:
        line = " ".join(str(message).split())
        if line not in printed:
            print(f"onlinekern: warning: {line}", file=sys.stderr)
        printed.add(line)

    return show
