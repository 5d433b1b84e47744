"""What ``onlinekern export`` does: a model file becomes code of another language."""

from __future__ import annotations

from typing import Any

from onlinekern._commands.arguments import check_readable, one_of

# What is exported to -> the method that does it.
LANGUAGES = {"c": "export_c"}


def export(model: str, language: str, output: str, **options: Any) -> str:
    """Write the files; returns a line about them.

    Raises
    ------
    ValueError
        If an option is wrong, or the model cannot be exported. The message says what.
    OSError
        If a file cannot be read or written.
    """
    import onlinekern

    one_of("--to", language, LANGUAGES)
    check_readable(model)
    loaded = onlinekern.load(model)
    method = getattr(loaded, LANGUAGES[language], None)
    if method is None:
        raise ValueError(f"{model} holds a {type(loaded).__name__}, which is no learner")
    try:
        made = method(output, **options)
    except TypeError as error:
        raise ValueError(f"{model} cannot be exported: {error}") from error
    does = "scores and learns" if made.learns else "scores"
    sizes = f"{made.flash:,} bytes of flash, {made.ram:,} of RAM"
    return f"{made.code}, {made.header}: {does}, {sizes}"
