"""The command line's commands and options (typer); ``onlinekern.cli`` starts it."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer
from rich.console import Console

from onlinekern._comparison import compare as comparison
from onlinekern.cli import version_line

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="Online kernel learning: compare methods over a stream of data.",
)  # fmt: skip

# A piped table has no terminal to ask for its width.
NARROWEST = 80


def _console(stderr: Any = False) -> Any:
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, NARROWEST)
    return console


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version_line())
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option(
        "--version", help="Print the version and exit.", callback=_print_version,
        is_eager=True)] = False,
) -> None:  # fmt: skip
    """Print the help if no command is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def compare(
    data: Annotated[str | None, typer.Argument(
        help="LIBSVM text (plain, .gz, .bz2, .xz, or - for standard input), .csv or .parquet. "
        "Without it: scikit-learn's digits, and the SPA paper's two gaussians.",
        show_default=False)] = None,
    test: Annotated[str | None, typer.Option(
        metavar="FILE", help="Test file: adds the accuracy of the finished models.")] = None,
    target: Annotated[str | None, typer.Option(
        metavar="NAME", help="Target column of a CSV or Parquet file.")] = None,
    methods: Annotated[str, typer.Option(
        metavar="A,B,...", help=f"Any of {', '.join(comparison.METHODS)}; or all that "
        "learn streams; or usual, one or two of each family.")] = "usual",
    gamma: Annotated[str | None, typer.Option(
        metavar="NUMBER", help="Kernel width, or median, scale or auto. Default: chosen.",
        show_default=False)] = None,
    kernel: Annotated[str, typer.Option(
        metavar="NAME", help=f"One of {', '.join(comparison.KERNELS)}.")] = "gaussian",
    settings: Annotated[list[str] | None, typer.Option(
        "--set", metavar="METHOD.PARAMETER=VALUE", show_default=False,
        help="A method's parameter, e.g. spa.eta=0.1; without METHOD for all that have it. "
        "May be repeated. What is not given is chosen on the stream's head.")] = None,
    repeats: Annotated[int, typer.Option(
        metavar="N", help="Number of random permutations.")] = 5,
    scale: Annotated[str, typer.Option(
        metavar="minmax|standard|none", help="Scale every feature to [-1, 1], or to mean 0 and "
        "variance 1, by the training stream's statistics.")] = "none",
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of all randomness.")] = 0,
    dtype: Annotated[str, typer.Option(
        metavar="float32|float64", help="Type of the rows.")] = "float32",
    limit: Annotated[int | None, typer.Option(
        metavar="N", help="Read the first N rows only.", show_default=False)] = None,
    task: Annotated[str, typer.Option(
        metavar="auto|classification|regression", help="auto: two targets, or at most 200 "
        "integer ones, are classes.")] = "auto",
    in_order: Annotated[bool, typer.Option(
        "--in-order", help="Run once, in the file's own order, for a stream that "
        "changes: the table also has kappa-temporal and the error over the last "
        "samples.")] = False,
    window: Annotated[int, typer.Option(
        metavar="N", help="How many samples are the last ones.")] = comparison.WINDOW,
    shuffle: Annotated[bool, typer.Option(
        "--shuffle/--no-shuffle", help="The older name of --in-order.", hidden=True)] = True,
    n_features: Annotated[int | None, typer.Option(
        metavar="N", help="Features of LIBSVM files, if more than the largest index shows.",
        show_default=False)] = None,
    zero_based: Annotated[bool, typer.Option(
        "--zero-based", help="LIBSVM indices start at 0 (noticed if a 0 occurs).")] = False,
    plot: Annotated[str | None, typer.Option(
        metavar="FILE", help="Draw mistakes and support vectors against samples seen.")] = None,
    json: Annotated[str | None, typer.Option(
        metavar="FILE", help="Write all figures of all runs as JSON.")] = None,
    csv: Annotated[str | None, typer.Option(
        metavar="FILE", help="Write the table as CSV.")] = None,
    checkpoint: Annotated[str | None, typer.Option(
        metavar="FILE", help="Keep what is done in this file, for --resume.",
        show_default=False)] = None,
    checkpoint_every: Annotated[str, typer.Option(
        metavar="N|SECONDSs", help="Write the checkpoint after N samples, or after seconds, "
        "such as 30s: a run that is killed loses at most that.")] = "60s",
    resume: Annotated[bool, typer.Option(
        "--resume", help="Go on from the checkpoint, if there is one; the table will be that of "
        "an uninterrupted run but for the times.")] = False,
) -> None:  # fmt: skip
    """Run methods test-then-train over a stream and print a table like the papers'.

    Every sample is predicted before it is learnt, in one pass over each random permutation. The
    table shows the mistakes (for regression the root mean squared error), the support vectors and
    the time spent in the learner. Regression targets are standardised for the learner.
    """
    options = dict(locals())
    options["settings"] = settings or []
    options["shuffle"] = not options.pop("in_order") and shuffle
    comparison.run(comparison.Request(**options), _console(), _console(stderr=True))


@app.command()
def info() -> None:
    """Print versions, and how the compiled core was built and runs here."""
    import onlinekern

    console = _console()
    console.print(f"Python {platform.python_version()}", markup=False)
    for package in ("numpy", "scipy", "scikit-learn", "typer", "rich", "matplotlib", "pyarrow"):
        try:
            found = version(package)
        except PackageNotFoundError:
            found = "not installed"
        console.print(f"{package} {found}", markup=False)
    onlinekern.show_config()
