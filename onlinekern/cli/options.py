"""Options that several commands share; each group is a base class of their requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any, ClassVar

import typer

from onlinekern.cli.arguments import check_report, check_values


def option(
    default: Any,
    values: str | tuple[str, ...] | None,
    help: str,
    *names: str,
    least: int | None = None,
    most: float = inf,
    **more: Any,
) -> Any:
    """Return the field of an option.

    Parameters
    ----------
    default : object
        Default value. An empty list means that the option may be repeated; ``...`` means that it is
        required.
    values : str, tuple of str or None
        Placeholder for the value in the help; None for that of the type. A tuple has all allowed
        values; others are refused.
    help : str
    *names : str
        Names of the option. By default, the name of the field; for a boolean, also with ``no``.
    least, most : int, optional
        Numbers below and above are refused.
    **more
        Further arguments of ``typer.Option``.
    """
    more["show_default"] = default != []
    known = None
    if isinstance(values, tuple):
        known, values = values, "|".join(values)
    parameter = typer.Option(*names, metavar=values, help=help, **more)
    return _field(default, parameter, (known, least, most))


def argument(default: Any, metavar: str, help: str, **more: Any) -> Any:
    """Return the field of a positional argument, which the help calls `metavar`."""
    return _field(default, typer.Argument(metavar=metavar, help=help, **more))


def model_file() -> Any:
    """Return the field of the model file that a command opens."""
    return argument(..., "MODEL", "The model file.")


def _field(default: Any, parameter: Any, allowed: Any = (None, None, inf)) -> Any:
    given: dict[str, Any] = {} if default is ... else {"default": default}
    if default == []:
        given = {"default_factory": list}
    return field(metadata={"parameter": parameter, "allowed": allowed}, **given)


def methods_that_begin(incomplete: str) -> list[str]:
    """Return the names of methods that complete a word, for the shell."""
    from onlinekern.evaluate.methods import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request to a command: its fields are the options, and its docstring is the help.

    Attributes
    ----------
    named : frozenset of str
        The fields given on the command line, even if equal to their defaults.
    """

    named: ClassVar[frozenset[str]] = frozenset()

    def run(self) -> None:
        """Check the options, then do the work."""
        check_values(self)
        self.check()
        self.carry_out()

    def check(self) -> None:
        """Raise ValueError or OSError for further errors that can be found at once."""

    def carry_out(self) -> None:
        """Do the work of the command."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class FromRows(Request):
    """Options of commands that read rows."""

    # fmt: off
    target: str | None = option(None, "NAME", "The column of a table that holds the targets. With "
        "it, standard input is read as a table: CSV, JSON lines or an Arrow stream.")
    zero_based: bool = option(False, None, "The indices of LIBSVM text start at 0, which compare "
        "notices if a 0 occurs.", "--zero-based")
    # fmt: on


@dataclass(frozen=True, kw_only=True)
class FromText(Request):
    """Options of commands that read text whose format its name does not determine."""

    # fmt: off
    format: str | None = option(None, "NAME", "One of libsvm, csv, tsv, jsonl, parquet and arrow. "
        "By default, the name of a file tells it, and the beginning of standard input.")
    separator: str | None = option(None, "CHARACTER", "What is between the values of CSV. By "
        "default, it is that of , ; | and tab which the first line has most of.")
    decimal: str = option(".", "CHARACTER", "What numbers of CSV have before their decimals.")
    header: bool = option(True, None, "Whether the first line of CSV has the names of the columns; "
        "otherwise they are called f0, f1, ...")
    # fmt: on


@dataclass(frozen=True, kw_only=True)
class Learning(FromRows):
    """Options of commands that learn a stream."""

    # fmt: off
    task: str = option("auto", ("auto", "classification", "regression"), "With auto, "
        "at most 200 integer targets are classes; train looks at the first 1,000 rows.")
    n_features: int | None = option(None, "N", "How many features LIBSVM text has, if more than "
        "its largest index shows. Without it, train reads the files twice.", least=1)
    limit: int | None = option(None, "N", "Read the first N rows only.", least=1)
    window: int = option(1000, "N", "How many samples are the last ones, whose error is shown.",
        least=1)
    seed: int = option(0, "N", "The seed of all that is random.", least=0)
    json: str | None = option(None, "FILE", "Write the figures as JSON; - is standard "
        "output, and what else is said goes to standard error.")
    report: str | None = option(None, "FILE.html", "Write a page for a browser: figures, pictures, "
        "and what was run.")
    checkpoint_every: str = option("60s", "N|SECONDSs", "Write the checkpoint after N samples, or "
        "after seconds, such as 30s: a run that is killed loses at most that.")
    resume: bool = option(False, None, "Go on from the checkpoint, if there is one; the result is "
        "that of a run that was never stopped, but for the times.", "--resume")
    # fmt: on

    def check(self) -> None:
        """Raise ValueError or ImportError if one of these options is invalid."""
        from onlinekern.evaluate.checkpoint import Period

        Period.of(self.checkpoint_every, "--checkpoint-every")
        check_report(self.report)
