"""``onlinekern export``: writes a model file as code of another language."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onlinekern.cli import options
from onlinekern.cli.options import model_file, option

# Target of the export -> the method of models that writes it.
LANGUAGES = {"c": "export_c", "onnx": "export_onnx"}
# Number of rows from which the ranges of features are measured.
SAMPLE = 10_000


@dataclass(frozen=True, kw_only=True)
class Request(options.Request):
    """C is one file and its header.

    onlinekern export model.okn --to c -o model.c --dtype float32

    onlinekern export model.okn -o model.c --dtype int16 --rows day1.csv

    onlinekern export model.okn --to onnx -o model.onnx
    """

    # fmt: off
    model: str = model_file()
    output: str = option(..., "FILE", "FILE.c, beside which a header is written, or "
        "FILE.onnx.", "--output", "-o")
    to: str | None = option(None, tuple(LANGUAGES), "The language. By default, the ending of "
        "FILE tells it.")
    dtype: str | None = option(None, "float32|float64|int16", "The type of the numbers. By "
        "default, it is float64 in C, and float32 in ONNX. C can have fixed point, int16.")
    prefix: str | None = option(None, "NAME", "What the names in C begin with. By default, it is "
        "the name of the file.")
    learn: bool | None = option(None, None, "Whether the C goes on learning. By default, it does "
        "if it can.")
    capacity: int | None = option(None, "N", "How many support vectors there is room for, if a "
        "model without a budget learns.")
    rows: str | None = option(None, "DATA", "With int16, rows whose ranges its numbers are to "
        "hold, as for train: the first 10,000 are read.")
    # fmt: on

    def carry_out(self) -> None:
        """Write the files, and print a line with their names and sizes.

        Raises
        ------
        ValueError
            If an option is wrong, or the model cannot be exported. The message says what.
        OSError
            If a file cannot be read or written.
        """
        from onlinekern.fitted.save import load
        from onlinekern.reports.console import PLAIN, open_console
        from onlinekern.streams.paths import check_apart, check_readable

        check_readable(self.model)
        check_apart(self.rows or "-", {"MODEL": self.model, "--output": self.output})
        language = self.to or Path(self.output).suffix.removeprefix(".").lower()
        if language not in LANGUAGES:
            raise ValueError(f"--output {self.output}: the name must end in .c or .onnx")
        model = load(self.model)
        method = getattr(model, LANGUAGES[language], None)
        if method is None:
            raise ValueError(f"{self.model} holds a {type(model).__name__}, which is no learner")
        values = {name: getattr(self, name) for name in ("dtype", "prefix", "learn", "capacity")}
        given = {name: value for name, value in values.items() if value is not None}
        if self.rows is not None:
            given["rows"] = sample_of(self.rows, model)
        for name in sorted(given.keys() - inspect.signature(method).parameters.keys()):
            raise ValueError(f"--{name} is no option of --to {language}")
        try:
            made = method(self.output, **given)
        except TypeError as error:
            raise ValueError(f"{self.model} cannot be exported: {error}") from error
        open_console().print(line_about(made), **PLAIN)


def sample_of(path: str, model: Any) -> Any:
    """Return the first rows of a file, without columns that the model does not use.

    Raises
    ------
    OSError
        If it cannot be read.
    ValueError
        If it has no rows of the model's features.
    """
    from itertools import islice

    from onlinekern.cli.rows import blocks_for
    from onlinekern.streams.blocks import in_blocks
    from onlinekern.streams.formats.reading import Reading
    from onlinekern.streams.paths import check_data

    check_data(path)
    if not hasattr(model, "n_features_in_"):
        return None  # the export then reports that the model has not been fitted
    blocks = blocks_for(model, path, None, zero_based=False, reading=Reading(ignore_extra=True))
    found = [X for X, _ in islice(in_blocks(blocks, SAMPLE), 1)]
    if not found:
        raise ValueError(f"--rows: {path} has no rows")
    return found[0]


def line_about(made: Any) -> str:
    """Return a line with names and sizes of the written files."""
    from onlinekern.estimators.exportable import ExportedOnnx

    if isinstance(made, ExportedOnnx):
        return f"{made.path}: {', '.join(made.outputs)}; {made.size:,} bytes"
    does = "scores and learns" if made.learns else "scores"
    sizes = f"{made.flash:,} bytes of flash, {made.ram:,} of RAM"
    return f"{made.code}, {made.header}: {does}, {sizes}"
