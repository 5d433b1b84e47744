"""What ``onlinekern export`` does: a model file becomes code of another language."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from onlinekern.estimators.exportable import ExportedC, ExportedOnnx
from onlinekern.estimators.validation import one_of
from onlinekern.streams.paths import check_readable


def line_of_c(made: ExportedC) -> str:
    """A line about the files in C."""
    does = "scores and learns" if made.learns else "scores"
    sizes = f"{made.flash:,} bytes of flash, {made.ram:,} of RAM"
    return f"{made.code}, {made.header}: {does}, {sizes}"


def line_of_onnx(made: ExportedOnnx) -> str:
    """A line about the file of ONNX."""
    return f"{made.path}: {', '.join(made.outputs)}; {made.size:,} bytes"


# What is exported to -> the method that does it, and what says a line about what it has made.
LANGUAGES: dict[str, tuple[str, Callable[[Any], str]]] = {
    "c": ("export_c", line_of_c),
    "onnx": ("export_onnx", line_of_onnx),
}


def export(model: str, language: str | None, output: str, **options: Any) -> str:
    """Write the files; returns a line about them.

    Parameters
    ----------
    model, output : str
    language : {'c', 'onnx'} or None
        None: by the ending of `output`, C if it tells nothing.
    **options
        Of the method; None for its default.

    Raises
    ------
    ValueError
        If an option is wrong, or the model cannot be exported. The message says what.
    OSError
        If a file cannot be read or written.
    """
    from onlinekern.fitted.save import load

    if language is None:
        ending = Path(output).suffix.removeprefix(".")
        language = ending if ending in LANGUAGES else "c"
    one_of("--to", language, LANGUAGES)
    check_readable(model)
    loaded = load(model)
    name, line = LANGUAGES[language]
    method = getattr(loaded, name, None)
    if method is None:
        raise ValueError(f"{model} holds a {type(loaded).__name__}, which is no learner")
    given = {option: value for option, value in options.items() if value is not None}
    for option in sorted(given.keys() - inspect.signature(method).parameters.keys()):
        raise ValueError(f"--{option} is no option of --to {language}")
    try:
        return line(method(output, **given))
    except TypeError as error:
        raise ValueError(f"{model} cannot be exported: {error}") from error
