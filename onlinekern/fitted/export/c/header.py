"""The header of a C file, which declares the functions for the program around a model."""

from __future__ import annotations

import re
from importlib.metadata import version
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple

from onlinekern.fitted.export import scoring as parts
from onlinekern.fitted.export.c.reentrant import wrapped
from onlinekern.fitted.export.c.source import Source

MEANINGS = {
    "binary": "One score, > 0 for class 1.",
    "classes": "A score for each class; the largest wins.",
    "regression": "One score, the prediction.",
    "several": "A score for each target, the prediction.",
    "outlier": "One score, < 0 for outliers.",
}


class Exported(NamedTuple):
    """Generated C file and its header.

    Attributes
    ----------
    code, header : str
        Texts of the two files.
    flash, ram : int
        Bytes of constants and of one model.
    learns : bool
        Whether there is a function `learn_one`.
    """

    code: str
    header: str
    flash: int
    ram: int
    learns: bool


def finished(
    source: Source,
    scoring: parts.Scoring,
    header: str,
    template: str,
    *,
    learns: bool = False,
    **more: Any,
) -> Exported:
    """Return the files of a complete source; `more` are further declarations of the header."""
    several = scoring.head == "regression" and scoring.n_outputs > 1
    code = source.text(header)
    text = files("onlinekern.fitted.export.c").joinpath(template).read_text(encoding="utf-8")
    declared = Template(text).substitute(
        source.names,
        title=f"{scoring.name}, exported by onlinekern {version('onlinekern')}.",
        flash=source.flash,
        ram=source.ram,
        features=scoring.n_features,
        outputs=scoring.n_outputs,
        classes=0 if scoring.labels is None else len(scoring.labels),
        meaning=MEANINGS["several" if several else scoring.head],
        **declared_with_model(source),
        **more,
    )
    return Exported(code, declared, source.flash, source.ram, learns)


def declared_with_model(source: Source) -> dict[str, str]:
    """Return the declarations for models of the caller, and for their states."""
    if not source.fields and not source.scratch:
        return dict.fromkeys(("threads", "codes", "structures", "own"), "")
    prefix, number = source.names["prefix"], f"{source.names['prefix']}_real"
    heads = (
        f"{own.type}{own.name}_r({prefix}_t *model, {own.parameters});" for own in source.shared
    )
    lines = [wrapped(re.sub(r"\breal\b", number, head)) for head in heads]
    text = source.filled("declare_own", functions="\n".join(lines))
    codes = ""
    if source.fields:
        text += source.filled("declare_state")
        codes = source.filled("declare_codes", bytes=source.n_bytes())
    threads = source.filled("declare_threads").rstrip()
    return {"threads": threads, "codes": codes, "structures": source.structures(), "own": text}
