"""``onlinekern predict``: its options, and their checks before the data are read."""

from __future__ import annotations

from dataclasses import dataclass

from onlinekern.cli.arguments import check_share, check_unused
from onlinekern.cli.options import FromRows, FromText, argument, model_file, option


@dataclass(frozen=True, kw_only=True)
class Request(FromText, FromRows):
    """Each row is one line, in the rows' order.

    onlinekern predict model.okn day3.csv -o answers.txt

    zcat rows.txt.gz | onlinekern predict model.okn --what probabilities | head
    """

    # fmt: off
    model: str = model_file()
    data: str = argument("-", "DATA", "The rows, as for train: a file, a folder, a quoted pattern "
        "or a URL. A table may lack the target column; of LIBSVM text, what stands in its place is "
        "not read.")
    output: str = option("-", "FILE", "Where the answers go; - is standard "
        "output.", "--output", "-o")
    what: str = option("labels", ("labels", "scores", "probabilities", "intervals", "sets"), "What "
        "is printed; the labels of a regression are its targets. If there are several columns, the "
        "first line has their names. Methods like kernel-rls have intervals, conformal learners "
        "those or sets of labels.")
    ignore_extra: bool = option(False, None, "Leave out columns, or features of LIBSVM text, that "
        "the model does not know.", "--ignore-extra")
    coverage: float | None = option(None, "SHARE", "The share of the targets that intervals are to "
        "hold. By default 0.9, or the share that the model has followed.")
    # fmt: on

    def carry_out(self) -> None:
        """Write the predictions."""
        from onlinekern.cli.predicting import predict

        predict(self)

    def check(self) -> None:
        """Raise ValueError or OSError for errors that can be found without the data."""
        from onlinekern.cli.rows import reading_of
        from onlinekern.streams.paths import check_apart, check_data, check_readable, check_writable

        reading_of(self)
        check_share("--coverage", self.coverage)
        if self.what != "intervals":
            check_unused(self, "is for --what intervals", "coverage")
        check_readable(self.model)
        check_data(self.data)
        check_apart(self.data, {"MODEL": self.model, "--output": self.output})
        if self.output != "-":
            check_writable(self.output, stored=True)
