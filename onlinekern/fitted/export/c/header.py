"""The header of a C file: what the program around a model sees of it."""

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


class Form(NamedTuple):
    """A form of the generated files: a template of headers, and what predicts a target, or not."""

    template: str
    predict: dict[bool, str]


REAL = Form(
    "model.h",
    {
        True: """/* The prediction. */
int ${prefix}_predict(const ${prefix}_real *x, ${prefix}_real *target);
int ${prefix}_predict_sparse(const int32_t *columns, const ${prefix}_real *values, int32_t n,
                             ${prefix}_real *target);
""",
        False: """/* The class number, or a negative code. */
int32_t ${prefix}_predict(const ${prefix}_real *x);
int32_t ${prefix}_predict_sparse(const int32_t *columns, const ${prefix}_real *values, int32_t n);
""",
    },
)
THREADS = Template("""
   Those that end in _r take a model of the caller's; those of the same names without it share one,
   one thread at a time. Without them, compile with -D${PREFIX}_NO_SHARED_MODEL.""")
CODES = Template("""    ${PREFIX}_BAD_STATE = -5,  /* no whole state, or no room for one */
    ${PREFIX}_OTHER_VERSION = -6, /* a state of another version of the format */
    ${PREFIX}_OTHER_MODEL = -7, /* the state of a model that differs in more than what it learnt */
    ${PREFIX}_STATE_BYTES = $bytes,
""")
OWN = Template("""
/* A model of the caller's begins as it was exported; the functions above, of such a model. */
void ${prefix}_init(${prefix}_t *model);
$functions
""")
STATE = Template("""
/* The state as ${PREFIX}_STATE_BYTES bytes, and back: little-endian, with a checksum. */
int ${prefix}_save(const ${prefix}_t *model, uint8_t *bytes, size_t size);
int ${prefix}_load(${prefix}_t *model, const uint8_t *bytes, size_t size);

/* Of two slots, each of `size` bytes and with anything in it: `load_newest` loads the one that was
   saved last and is whole. `save_next` gives the bytes for the other one, and returns its number, 0
   or 1. If the power fails while that is written, the newest state is still there. */
int ${prefix}_load_newest(${prefix}_t *model, const uint8_t *first, const uint8_t *second,
                          size_t size);
int ${prefix}_save_next(const ${prefix}_t *model, const uint8_t *first, const uint8_t *second,
                        uint8_t *bytes, size_t size);
""")


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
    form: Form,
    learns: bool = False,
    **more: Any,
) -> Exported:
    """Return the files of a source that is complete; `more` is what else the header says."""
    regression = scoring.head == "regression"
    code = source.text(header)
    text = files("onlinekern.fitted.export.c").joinpath(form.template).read_text(encoding="utf-8")
    declared = Template(text).substitute(
        source.names,
        title=f"{scoring.name}, exported by onlinekern {version('onlinekern')}.",
        flash=source.flash,
        ram=source.ram,
        features=scoring.n_features,
        outputs=scoring.n_outputs,
        classes=0 if scoring.labels is None else len(scoring.labels),
        meaning=MEANINGS["several" if regression and scoring.n_outputs > 1 else scoring.head],
        predict=Template(form.predict[regression]).substitute(source.names),
        **declared_with_model(source),
        **more,
    )
    return Exported(code, declared, source.flash, source.ram, learns)


def declared_with_model(source: Source) -> dict[str, str]:
    """Return what the header says of models of the caller's own, and of their states."""
    if not source.fields and not source.scratch:
        return dict.fromkeys(("threads", "codes", "structures", "own"), "")
    prefix, number = source.names["prefix"], f"{source.names['prefix']}_real"
    heads = (
        f"{own.type}{own.name}_r({prefix}_t *model, {own.parameters});" for own in source.shared
    )
    lines = [wrapped(re.sub(r"\breal\b", number, head)) for head in heads]
    text = OWN.substitute(source.names, functions="\n".join(lines))
    codes = ""
    if source.fields:
        text += STATE.substitute(source.names)
        codes = CODES.substitute(source.names, bytes=source.n_bytes())
    threads = THREADS.substitute(source.names)
    return {"threads": threads, "codes": codes, "structures": source.structures(), "own": text}
