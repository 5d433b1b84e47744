"""``onlinekern train``: its options, and their checks before the data are read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from onlinekern.cli.arguments import check_share, check_unused, parse_pairs, parse_value
from onlinekern.cli.options import FromText, Learning, argument, methods_that_begin, option

# A resumed run may have other values of these options.
FREE = ("output", "json", "report", "checkpoint_every", "resume", "limit", "window")


@dataclass(frozen=True, kw_only=True)
class Request(FromText, Learning):
    """The rows are learnt in their order, in one pass. Each one is predicted before it is learnt:
    the mistakes (or errors) of these predictions are shown. Memory does not grow with the data.
    Ctrl-C saves the model and a checkpoint, OUTPUT.checkpoint.

    onlinekern train day1.csv day2.csv --target sold -o model.okn

    zcat rows.txt.gz | onlinekern train - --n-features 123 -o model.okn
    """

    # fmt: off
    data: list[str] = argument(..., "DATA", "LIBSVM text, .csv, .tsv, .jsonl (plain, .gz, .bz2, "
        ".xz, .zst), .parquet or .arrow, or - for standard input; folders, quoted patterns and "
        "URLs such as s3://bucket/logs. Several files are one stream.")
    output: str = option(..., "FILE", "The model file, or a URL of a store.", "--output", "-o")
    method: str = option("stream", "NAME", "What learns; `onlinekern methods` lists them. With "
        "stream, there is nothing to choose.", autocompletion=methods_that_begin)
    parameters: list[str] = option([], "NAME=VALUE", "Set a parameter of the method, e.g. eta=0.1. "
        "May be repeated.", "--param")
    coverage: float | None = option(None, "SHARE", "Learn intervals of the targets, or sets of "
        "labels, that hold this share, for predict and serve.")
    by_class: bool = option(False, None, "Hold the share in each class, also of rare ones, not "
        "over all rows.", "--by-class")
    scale: str = option("running", ("running", "none"), "Standardise features by the means and "
        "deviations so far, which stream does by itself.")
    columns: list[str] = option([], "NAME=KIND", "Say of which kind a column of a table is, where "
        "the guess is wrong: number, boolean, category, hashed, date, text or ignore. May be "
        "repeated.", "--column")
    when: list[str] = option([], "COLUMN", "A column of a table that tells when a row came, or its "
        "label: it is no feature, unless --column COLUMN=date asks for it. May be repeated.")
    missing: str = option("mean", ("mean", "refuse"), "What becomes of missing values of a "
        "table: mean puts in the mean so far, and adds a feature that says so; refuse ends in an "
        "error.")
    categories: str = option("auto", ("auto", "one-hot", "hash"), "What categories and "
        "words of a table become: one-hot features of each column, or a hash says one of --slots "
        "features. auto is hash for stream and linear methods, where columns have values without a "
        "bound.")
    slots: int = option(2**20, "N", "Number of features that hashed categories and words "
        "share. Where it is not given, stream has fewer for many classes, by its memory_budget.",
        least=2, most=2**31 - 1)
    on_error: str = option("stop", ("stop", "skip"), "What to do with a faulty line of text: skip "
        "leaves it out, and names one at the end, and says how many there were.")
    # fmt: on

    @property
    def checkpoint(self) -> str:
        """The file of the checkpoint; if the output is a URL, a file in the working folder."""
        from onlinekern.fitted.save.stores import is_stored, local_path

        here = self.output.rpartition("/")[2] if is_stored(self.output) else local_path(self.output)
        return f"{here}.checkpoint"

    def carry_out(self) -> None:
        """Learn, and write the model."""
        from onlinekern.cli.training import train

        train(self)

    def check(self) -> None:
        """Raise ValueError or OSError for errors that can be found without the data."""
        from onlinekern.cli.rows import reading_of
        from onlinekern.estimators.validation import one_of
        from onlinekern.evaluate.methods import METHODS, check_task

        super().check()
        check_share("--coverage", self.coverage)
        if self.coverage is None:
            check_unused(self, "needs --coverage SHARE", "by_class")
        if self.task == "regression":
            check_unused(self, "is for classes, and --task is regression", "by_class")
        one_of("--method", self.method, METHODS)
        if self.when and self.target is None:
            raise ValueError("--when names a column of a table, which needs --target")
        if METHODS[self.method].batch:
            raise ValueError(f"--method {self.method} learns no streams")
        if METHODS[self.method].scales:
            check_unused(self, f"does nothing with {self.method}, which scales by itself", "scale")
        if self.categories == "one-hot" and "hashed" not in self.kinds().values():
            check_unused(self, "is for hashed categories, and --categories is one-hot", "slots")
        if self.task != "auto":
            check_task(self.method, self.task, "--method")
        self.given()
        reading_of(self, self.kinds().items())
        if self.data.count("-") > 1:
            raise ValueError("standard input can be read only once")
        self._check_files()

    def _check_files(self) -> None:
        from onlinekern.streams.paths import check_apart, check_data, check_writable

        check_data(self.data)
        written = {"--output": self.output, "--json": self.json, "--report": self.report}
        check_apart(self.data, written)
        check_writable(self.output, stored=True)
        for file in (self.checkpoint, self.json, self.report):
            if file is not None and not (file == self.json == "-"):
                check_writable(file)
        if not self.resume and Path(self.checkpoint).exists():
            raise ValueError(
                f"{self.checkpoint}: there is such a file, of a run that did not end; --resume "
                "goes on from it, or delete it to begin anew"
            )

    def given(self) -> dict[str, Any]:
        """Return the parameters of the method: name -> value."""
        pairs = parse_pairs("--param", self.parameters)
        return {name: parse_value(value) for name, value in pairs.items()}

    def kinds(self) -> dict[str, str]:
        """Return the given kinds of columns: name -> kind."""
        from onlinekern.estimators.validation import one_of
        from onlinekern.preprocessing.tables.encoder import KINDS

        pairs = parse_pairs("--column", self.columns, last=True)
        for kind in pairs.values():
            one_of("--column", kind, KINDS)
        if self.target in pairs:
            raise ValueError(f"--column {self.target}: that is the column of the targets")
        return pairs

    def binding(self) -> dict[str, Any]:
        """Return the options that a checkpoint must have in common with a run that resumes it."""
        return {name: value for name, value in asdict(self).items() if name not in FREE}
