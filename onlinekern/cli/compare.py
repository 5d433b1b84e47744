"""``onlinekern compare``: its options, and their checks before the data are read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from onlinekern.cli.arguments import check_unused, parse_value
from onlinekern.cli.options import FromText, Learning, argument, option
from onlinekern.evaluate.methods import KERNELS, METHODS

# Options that affect how files are read.
READING = ("n_features", "zero_based", "format", "separator", "decimal", "header")


@dataclass(frozen=True, kw_only=True)
class Request(FromText, Learning):
    """They run test-then-train: every sample is predicted before it is learnt, in one pass over
    each random permutation. The table is like the papers': it shows the mistakes (for regression
    the root mean squared error), the support vectors and the time spent in the learner. Regression
    targets are standardised for the learner.

    onlinekern compare data.csv --target sold --methods stream,spa,pa1
    """

    # fmt: off
    data: str | None = argument(None, "DATA", "LIBSVM text (plain, .gz, .bz2, .xz, .zst, or - for "
        "standard input), .csv or .parquet; a folder, a quoted pattern or a URL. Without it, the "
        "data are scikit-learn's digits, and "
        "the SPA paper's two gaussians.")
    test: str | None = option(None, "FILE", "A test file, which adds the accuracy of the finished "
        "models.")
    methods: str = option("usual", "A,B,...", f"Any of {', '.join(METHODS)}; or all that learn "
        "streams; or usual, one or two of each family.")
    gamma: str | None = option(None, "NUMBER", "The kernel's width, or median, scale or auto. By "
        "default, it is chosen, and learners of features may choose a wider one.")
    kernel: str = option("gaussian", "NAME", f"One of {', '.join(KERNELS)}.")
    settings: list[str] = option([], "METHOD.PARAMETER=VALUE", "Set a method's parameter, e.g. "
        "spa.eta=0.1; without METHOD, that of all that have it. May be repeated. What is not given "
        "is chosen on the stream's head.", "--set")
    repeats: int = option(5, "N", "The number of random permutations.", least=1)
    scale: str | None = option(None, ("running", "minmax", "standard", "none"), "running "
        "standardises features by the means and deviations so far, as train does, which stream "
        "does by itself; minmax and standard scale them to [-1, 1], or to mean 0 and variance 1, "
        "by the whole stream's statistics. By default, running of DATA, and none without.")
    dtype: str = option("float32", ("float32", "float64"), "The type of the rows.")
    in_order: bool = option(False, None, "Run once, in the file's own order, for a stream that "
        "changes: the table also has kappa-temporal and the error over the last "
        "samples.", "--in-order")
    when: list[str] = option([], "COLUMN", "A column of a table that tells when a row came, or its "
        "label: it is no feature. May be repeated.")
    delay: int = option(0, "N", "How many samples are predicted between a sample and the coming "
        "of its label, which is when it is learnt.", least=0)
    plot: str | None = option(None, "FILE", "Draw mistakes and support vectors against samples "
        "seen.")
    csv: str | None = option(None, "FILE", "Write the table as CSV.")
    checkpoint: str | None = option(None, "FILE", "Keep what is done in this file, for --resume.")
    # fmt: on

    def carry_out(self) -> None:
        """Compare, and print a table."""
        from onlinekern.cli.comparing import run

        run(self)

    def check(self) -> None:
        """Raise ValueError or OSError for errors that can be found without the data."""
        from onlinekern.cli.rows import reading_of
        from onlinekern.estimators.kernel_width import has_width
        from onlinekern.estimators.validation import one_of

        super().check()
        one_of("--kernel", self.kernel, KERNELS)
        for name in self.methods.split(","):
            one_of("--methods", name.strip(), (*METHODS, "all", "usual"))
        if self.limit == 1:
            raise ValueError("--limit must be at least 2, got 1")
        self.width()
        self.set_parameters()
        reading_of(self)
        if self.data is None and (self.test or self.target):
            raise ValueError("--test and --target need DATA")
        if self.data is None:
            check_unused(self, "needs DATA", *READING)
        if self.in_order:
            check_unused(self, "is for random orders, and --in-order is one order", "repeats")
        named = [METHODS.get(name.strip()) for name in self.methods.split(",")]
        if self.scale == "none" and all(method and method.scales for method in named):
            check_unused(self, f"does nothing: {self.methods} scale by themselves", "scale")
        if not has_width(self.kernel):
            check_unused(self, f"is for kernels with a width, and {self.kernel} has none", "gamma")
        if self.when and self.target is None:
            raise ValueError("--when names a column of a table, which needs --target")
        if self.data == self.test == "-":
            raise ValueError("DATA and --test cannot both be standard input")
        self._check_files()
        self._check_checkpoint()

    def scaling(self) -> str:
        """Return the scaling of features; the data sets of the package need none."""
        if self.scale is not None:
            return self.scale
        return "none" if self.data is None else "running"

    def _check_files(self) -> None:
        from onlinekern.streams.paths import check_apart, check_data, check_writable

        read = [path for path in (self.data, self.test) if path is not None] or "-"
        check_data(read)
        written = {"--plot": self.plot, "--json": self.json, "--csv": self.csv}
        written |= {"--report": self.report, "--checkpoint": self.checkpoint}
        check_apart(read, written)
        if self.plot:
            from onlinekern.plotting import SUFFIXES

            if Path(self.plot).suffix.lower() not in SUFFIXES:
                raise ValueError(f"--plot {self.plot}: the name must end in {', '.join(SUFFIXES)}")
            import_module("matplotlib")  # the plot is drawn last, so check now whether it can be
        for path in (self.plot, self.json, self.csv, self.report):
            if path is not None and not (path == self.json == "-"):
                check_writable(path)

    def _check_checkpoint(self) -> None:
        if self.resume and self.checkpoint is None:
            raise ValueError("--resume needs --checkpoint PATH")
        if self.checkpoint is None:
            check_unused(self, "needs --checkpoint PATH", "checkpoint_every")
            return
        if self.data is None:
            raise ValueError("--checkpoint needs DATA")
        if Path(self.checkpoint).is_dir():
            raise IsADirectoryError(21, "Is a directory", self.checkpoint)
        if not self.resume and Path(self.checkpoint).exists():
            raise ValueError(
                f"--checkpoint {self.checkpoint}: there is such a file; --resume goes on from it, "
                "or delete it to begin anew"
            )

    def width(self) -> Any:
        """Return gamma: a positive float, "median", "scale" or "auto"; None, to choose it."""
        if self.gamma in (None, "median", "scale", "auto"):
            return self.gamma
        try:
            gamma = float(self.gamma)
        except ValueError:
            gamma = math.nan
        if not 0 < gamma < math.inf:
            raise ValueError(
                f"--gamma must be a positive number, median, scale or auto, got {self.gamma!r}"
            )
        return gamma

    def set_parameters(self) -> dict[str, Any]:
        """Return the given parameters: ["spa.eta=0.1", ...] as {"spa.eta": 0.1, ...}."""
        settings = {}
        for text in self.settings:
            key, equals, value = (part.strip() for part in text.partition("="))
            if not equals or not key or not value:
                raise ValueError(f"--set {text!r}: expected METHOD.PARAMETER=VALUE")
            if key.rpartition(".")[2] in ("random_state", "kernel"):
                raise ValueError(f"--set {text!r}: use --seed and --kernel")
            settings[key] = parse_value(value)
        return settings
