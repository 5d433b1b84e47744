"""The entry point of the command ``onlinekern``.

Invalid input leads to one line on standard error and exit code 2, never to a traceback. The module
needs only the standard library until it has checked that the optional packages are installed.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, NoReturn

BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
# Missing package -> the extra that installs it.
OPTIONAL = {
    **dict.fromkeys(("typer", "rich", "matplotlib", "pyarrow"), "cli"),
    **dict.fromkeys(("starlette", "uvicorn"), "serve"),
}


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code.

    Parameters
    ----------
    arguments : list of str, optional
        Arguments to use instead of ``sys.argv[1:]``.
    """
    sys.exit(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    """Run a command; return its exit code."""
    _open_outputs()
    try:
        _answer(arguments)
        sys.stdout.flush()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Buffered output would raise the error again when the interpreter flushes it at its end.
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
        # These errors come from click or from typer's copy of click, so they are found by name and
        # method.
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
        # The command prints one hint for the whole file, which names the option.
        warnings.filterwarnings("ignore", SCALES_DIFFER)
        # Warnings of other packages about each other, such as an old matplotlib about a new
        # pyparsing.
        warnings.filterwarnings("ignore", "", DeprecationWarning, "(?!onlinekern)")
        warnings.showwarning = _warning_printer()
        asked = app(arguments, standalone_mode=False, prog_name="onlinekern")
        # Run here and not inside typer: so deep in the stack, Python 3.11 may map memory at every
        # call, which made the imports of `predict` 0.3 s slower.
        if isinstance(asked, Request):
            asked.run()


def _open_outputs() -> None:
    """Replace outputs that were closed before the start, for which Python has None."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _fail(message: str) -> int:
    # Bytes of a binary file could send control sequences to the terminal.
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
