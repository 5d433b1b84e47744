"""The command line's commands and options (typer); ``onlinekern.cli`` starts it."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console

from onlinekern._config import show_config
from onlinekern._config import version as installed_version
from onlinekern.cli import compare as comparison
from onlinekern.fitted.save import load
from onlinekern.reports.machine import versions

app = typer.Typer(
    pretty_exceptions_enable=False, rich_markup_mode=None,
    help="Online kernel learning: learn streams, predict, compare methods.",
)  # fmt: skip

FormatOption = Annotated[str | None, typer.Option(
    metavar="NAME", help="libsvm, csv, tsv, jsonl, parquet or arrow. Default: as the file is "
    "called; standard input as it begins.", show_default=False)]  # fmt: skip
SeparatorOption = Annotated[str | None, typer.Option(
    metavar="CHARACTER", help="Of CSV. Default: , ; | or tab, whichever the first line has most "
    "of.", show_default=False)]  # fmt: skip
DecimalOption = Annotated[str, typer.Option(
    metavar="CHARACTER", help="What numbers of CSV have before their decimals.")]  # fmt: skip
HeaderOption = Annotated[bool, typer.Option(
    help="Whether the first line of CSV has the names of the columns; else they are f0, "
    "f1, ...")]  # fmt: skip
Report = Annotated[str | None, typer.Option(
    metavar="FILE.html", help="Write a page for a browser: figures, pictures, what was run.",
    show_default=False)]  # fmt: skip
# A piped table has no terminal to ask for its width.
NARROWEST = 80


def _console(stderr: Any = False) -> Any:
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, NARROWEST)
    return console


def _methods_that_begin(incomplete: str) -> list[str]:
    """Names of methods, for the shell."""
    return [name for name in comparison.METHODS if name.startswith(incomplete)]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"onlinekern {installed_version()}")
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
    report: Report = None,
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
    """Race methods over a stream and print a table.

    They run test-then-train, and the table is like the papers'.

    Every sample is predicted before it is learnt, in one pass over each random permutation. The
    table shows the mistakes (for regression the root mean squared error), the support vectors and
    the time spent in the learner. Regression targets are standardised for the learner.
    """
    options = dict(locals())
    options["settings"] = settings or []
    options["shuffle"] = not options.pop("in_order")
    comparison.run(comparison.Request(**options), _console(), _console(stderr=True))


@app.command()
def train(
    data: Annotated[list[str], typer.Argument(
        help="LIBSVM text, .csv, .tsv, .jsonl (plain, .gz, .bz2, .xz), .parquet or .arrow, or - "
        "for standard input; several files are one stream.", show_default=False)],
    output: Annotated[str, typer.Option(
        "--output", "-o", metavar="FILE", help="The model file.", show_default=False)],
    target: Annotated[str | None, typer.Option(
        metavar="NAME", help="Target column of a table. From standard input, CSV, JSON lines and "
        "Arrow streams are tables.", show_default=False)] = None,
    method: Annotated[str, typer.Option(
        metavar="NAME", autocompletion=_methods_that_begin,
        help="What learns; `onlinekern methods` lists them. stream has nothing to "
        "choose.")] = "stream",
    parameters: Annotated[list[str] | None, typer.Option(
        "--param", metavar="NAME=VALUE", show_default=False,
        help="A parameter of the method, e.g. eta=0.1. May be repeated.")] = None,
    task: Annotated[str, typer.Option(
        metavar="auto|classification|regression", help="auto: two targets, or at most 200 "
        "integer ones, among the first 1,000 rows are classes.")] = "auto",
    scale: Annotated[str, typer.Option(
        metavar="running|none", help="Standardise features by the means and deviations so far, "
        "which stream does by itself.")] = "running",
    n_features: Annotated[int | None, typer.Option(
        metavar="N", help="Features of LIBSVM text. Without it, the files are read twice.",
        show_default=False)] = None,
    zero_based: Annotated[bool, typer.Option(
        "--zero-based", help="LIBSVM indices start at 0.")] = False,
    limit: Annotated[int | None, typer.Option(
        metavar="N", help="Learn the first N rows only.", show_default=False)] = None,
    format: FormatOption = None,
    separator: SeparatorOption = None,
    decimal: DecimalOption = ".",
    header: HeaderOption = True,
    columns: Annotated[list[str] | None, typer.Option(
        "--column", metavar="NAME=KIND", show_default=False, help="The kind of a table's column, "
        "where the guess is wrong: number, boolean, category, hashed, date, text or ignore. May "
        "be repeated.")] = None,
    missing: Annotated[str, typer.Option(
        metavar="mean|refuse", help="Missing values of a table: the mean so far, and a feature "
        "that says so; or an error.")] = "mean",
    on_error: Annotated[str, typer.Option(
        metavar="stop|skip", help="What to do with a faulty line of text: skip leaves it out, and "
        "names one at the end, and says how many there were.")] = "stop",
    window: Annotated[int, typer.Option(
        metavar="N", help="How many samples are the last ones.")] = comparison.WINDOW,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of all randomness.")] = 0,
    json: Annotated[str | None, typer.Option(
        metavar="FILE", help="Write the figures of the run as JSON.")] = None,
    report: Report = None,
    checkpoint_every: Annotated[str, typer.Option(
        metavar="N|SECONDSs", help="Write OUTPUT.checkpoint after N samples, or after seconds, "
        "such as 30s: a run that is killed loses at most that.")] = "60s",
    resume: Annotated[bool, typer.Option(
        "--resume", help="Go on from the checkpoint, if there is one.")] = False,
) -> None:  # fmt: skip
    """Learn a stream and write the model to a file.

    The rows are learnt in their order, in one pass. Each one is predicted before it is learnt: the
    mistakes (or errors) of these predictions are shown. Memory does not grow with the data. Ctrl-C
    saves the model and a checkpoint.

    onlinekern train day1.csv day2.csv --target sold -o model.okn

    zcat rows.txt.gz | onlinekern train - --n-features 123 -o model.okn
    """
    from onlinekern.cli.train import TrainRequest
    from onlinekern.cli.train import train as carry_out

    options = dict(locals())
    options["parameters"], options["columns"] = parameters or [], tuple(columns or ())
    known = {name: options[name] for name in TrainRequest.__dataclass_fields__}
    carry_out(TrainRequest(**known), _console(), _console(stderr=True))


@app.command()
def predict(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    data: Annotated[str, typer.Argument(
        help="As for train; the target column may be missing, and what LIBSVM text has in its "
        "place is not read.")] = "-",
    output: Annotated[str, typer.Option(
        "--output", "-o", metavar="FILE", help="Where the answers go; - is standard "
        "output.")] = "-",
    what: Annotated[str, typer.Option(
        metavar="labels|scores|probabilities|intervals", help="labels: labels, or targets. With "
        "more columns than one, the first line has their names. Intervals are those of "
        "kernel-rls and its like.")] = "labels",
    coverage: Annotated[float, typer.Option(
        metavar="SHARE", help="How many targets intervals are to hold.")] = 0.9,
    target: Annotated[str | None, typer.Option(
        metavar="NAME", help="A column of the table that is no feature.",
        show_default=False)] = None,
    zero_based: Annotated[bool, typer.Option(
        "--zero-based", help="LIBSVM indices start at 0.")] = False,
    format: FormatOption = None,
    separator: SeparatorOption = None,
    decimal: DecimalOption = ".",
    header: HeaderOption = True,
) -> None:  # fmt: skip
    """Print what a model says of each row.

    One line a row, in the rows' order.

    onlinekern predict model.okn day3.csv -o answers.txt

    zcat rows.txt.gz | onlinekern predict model.okn --what probabilities | head
    """
    from onlinekern.cli.predict import PredictRequest
    from onlinekern.cli.predict import predict as carry_out

    request = PredictRequest(
        model,
        data,
        output,
        what,
        target,
        zero_based,
        format,
        separator,
        decimal,
        header,
        coverage,
    )
    carry_out(request)


@app.command()
def serve(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", help="0: any; it is printed.")] = 8000,
    uds: Annotated[str | None, typer.Option(
        metavar="PATH", help="Listen at a Unix socket instead.", show_default=False)] = None,
    token: Annotated[str | None, typer.Option(
        metavar="TEXT", help="What clients must send as Authorization: Bearer TEXT. Other users "
        "see it in the list of processes: better the environment variable ONLINEKERN_TOKEN.",
        show_default=False)] = None,
    token_file: Annotated[str | None, typer.Option(
        metavar="FILE", help="A file that holds the token.", show_default=False)] = None,
    read_only: Annotated[bool, typer.Option(
        "--read-only", help="Predict only: /learn is refused, no file is written.")] = False,
    snapshot: Annotated[str | None, typer.Option(
        metavar="FILE", help="Where the model goes that has learnt; if the file is there, it is "
        "served in the place of MODEL. Default: MODEL itself, so that the same command goes on "
        "where the last one ended.", show_default=False)] = None,
    snapshot_every: Annotated[str, typer.Option(
        metavar="N|SECONDSs", help="Write the snapshot after N samples, or after seconds. What "
        "comes after it is in the journal, FILE.journal: a kill loses nothing.")] = "60s",
    sync: Annotated[str, typer.Option(
        metavar="always|interval|off", help="Force the journal to the disk before each answer, "
        "once in a second, or never: what a loss of power may cost.")] = "always",
    queue: Annotated[int, typer.Option(
        metavar="N", help="Requests that may wait; more are refused (503).")] = 1024,
    max_bytes: Annotated[int, typer.Option(
        metavar="N", help="Largest body of a request.")] = 1 << 20,
    max_classes: Annotated[int, typer.Option(
        metavar="N", help="Classes to which a classifier that takes up new ones may grow.")] = 100,
    log_level: Annotated[str, typer.Option(
        metavar="LEVEL", help="error, warning, or info, which logs each request.")] = "warning",
) -> None:  # fmt: skip
    """Serve a model over HTTP: it predicts and learns at the same time.

    onlinekern serve model.okn

    curl localhost:8000/predict -d '{"rows": [[1, 2, 3]]}'

    curl localhost:8000/learn -d '{"rows": [[1, 2, 3]], "y": ["yes"]}'
    """
    options = dict(locals())
    from onlinekern.serve.server import ServeRequest
    from onlinekern.serve.server import serve as carry_out

    carry_out(ServeRequest(**options), _console(), _console(stderr=True))


@app.command()
def export(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    output: Annotated[str, typer.Option(
        "--output", "-o", metavar="FILE", help="FILE.c, beside which comes a header, or FILE.onnx.",
        show_default=False)],
    to: Annotated[str | None, typer.Option(
        metavar="c|onnx", help="The language. Default: by the ending of FILE.",
        show_default=False)] = None,
    dtype: Annotated[str | None, typer.Option(
        metavar="float32|float64", help="Of the numbers. Default: float64 in C, float32 in ONNX.",
        show_default=False)] = None,
    prefix: Annotated[str | None, typer.Option(
        metavar="NAME", help="What the names in C begin with. Default: the name of the file.",
        show_default=False)] = None,
    learn: Annotated[bool | None, typer.Option(
        help="Whether the C goes on learning. Default: if it can.", show_default=False)] = None,
    capacity: Annotated[int | None, typer.Option(
        metavar="N", help="Room for support vectors of a model without a budget that learns.",
        show_default=False)] = None,
) -> None:  # fmt: skip
    """Write a model as one C file and its header, which need no library, or as ONNX.

    onlinekern export model.okn --to c -o model.c --dtype float32

    onlinekern export model.okn --to onnx -o model.onnx
    """
    from onlinekern.cli.export import export as carry_out

    options = {"dtype": dtype, "prefix": prefix, "learn": learn, "capacity": capacity}
    line = carry_out(model, to, output, **options)
    _console().print(line, markup=False, highlight=False, soft_wrap=True)


@app.command()
def methods(
    name: Annotated[str | None, typer.Argument(
        help="A method: what it is, its parameters, its paper.",
        autocompletion=_methods_that_begin, show_default=False)] = None,
) -> None:  # fmt: skip
    """List the methods that can be named: what each is, and its paper.

    onlinekern methods kernel-rls
    """
    from rich.table import Table

    from onlinekern.cli.describe import about_method, summary_of_method

    console = _console()
    if name is not None:
        for line in about_method(name):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False)
    for head in ("name", "what", "paper"):
        table.add_column(head, no_wrap=head == "name")
    for method in comparison.METHODS.values():
        table.add_row(method.name, *summary_of_method(method))
    console.print(table)


@app.command()
def info(
    model: Annotated[str | None, typer.Argument(
        help="A model file.", show_default=False)] = None,
) -> None:  # fmt: skip
    """Print what a model file holds.

    Without one: versions, and how the compiled core was built and runs here.
    """
    console = _console()
    if model is not None:
        from onlinekern.cli.describe import lines_about

        for line in lines_about(load(model)):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        return
    for name, found in versions():
        console.print(f"{name} {found}", markup=False)
    show_config()
