"""Print the papers' tables and figures on their data: our figures beside the published ones.

    python benchmarks/papers [TABLE ...] [--data DIR] [--orders N] [--only TEXT] [--jobs N]
        [--results FILE] [--pages DIR] [--quick]

TABLE is A (SPA, mistakes of one pass), A3 (SPA, test errors), B (DualSGD, classification), B2 (its
regression), C (LOL), C4 to C7 (LOL's figures), D (SDROGD), D2 (its sketch), E (OLLA), E2 (its
multi-logit) or E6 (its figures 6 to 10); all without one. What FILE of the results lacks is run on
the sets in DIR, and written there after each order, so a run that was stopped goes on where it was.
Without `--data` nothing is run. A set whose file is not in DIR and that has no figures has the line
"no data". Errors are in per cent, mean and standard deviation over random orders; regression has
root mean squared errors. Times are CPU time in the learner, one thread, in µs a sample. The bar is
the figure of an independent implementation, if there is one. `--pages` fills the tables of the
pages in DIR and draws their figures. `--quick` runs one order of each row on small made sets, and
keeps nothing. `choose.py` chooses the settings that the papers do not give.
"""

import argparse
from pathlib import Path

import numpy as np
from datasets import Folder
from pages import write_pages
from results import FILE, Results, summary
from rows import TABLES
from running import lacking, run
from stand_ins import StandIns

# Measures that have columns of their own, and those that only the file has.
COLUMNS = {"error", "time", "size", "seconds", "curve"}


def arguments(given=None):
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--data", type=Path, help="folder of LIBSVM files")
    parser.add_argument("--orders", type=int, help="orders of each row, in place of its own number")
    parser.add_argument("--only", default="", help="rows whose set or learner contains this")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--results", type=Path, default=FILE, help="file of results")
    parser.add_argument("--pages", type=Path, help="folder of the pages")
    parser.add_argument("--quick", action="store_true", help="small made sets, one order")
    options = parser.parse_args(given)
    for name in options.tables:
        if name not in TABLES:
            parser.error(f"no table {name}: there are {', '.join(TABLES)}")
    return options


def main(given=None):
    """Run what is asked for, print the tables, write the pages."""
    options = arguments(given)
    chosen = [
        (name, place, row)
        for name in options.tables or TABLES
        for place, row in enumerate(TABLES[name])
        if options.only in f"{row.data} {row.learner}"
    ]
    results = Results(None if options.quick else options.results)
    if options.quick or options.data:
        make, path = (StandIns, "") if options.quick else (Folder, options.data)
        orders = 1 if options.quick else options.orders
        tasks = lacking(chosen, results, orders)
        run(tasks, results, make, path, options.jobs)
    show(chosen, results)
    if options.pages:
        write_pages(options.pages, results)


def show(chosen, results):
    """Print rows, those of a table under one heading."""
    last = None
    for name, _, row in chosen:
        if name != last:
            print(
                f"{name + ': set':26s} {'learner':44s} {'error':>15s} {'bar':>7s}"
                f" {'published':>10s} {'us':>8s} {'SVs':>8s}"
            )
            last = name
        print(line(row, results.get(name, row)), flush=True)


def line(row, runs):
    """Return the line of a row; "no data" if there are no figures of it."""
    if "error" not in runs:
        return f"{row.data:26s} {row.learner:44s} no data"
    bar, published = ("" if one is None else one for one in (row.bar, row.published))
    kept = f"{np.mean(runs['size']):,.0f}" if "size" in runs else ""
    more = [
        f"{name} {np.mean(values):,.4g}" for name, values in runs.items() if name not in COLUMNS
    ]
    return (
        f"{row.data:26s} {row.learner:44s} {summary(runs['error'], row.digits):>15s}"
        f" {bar:>7} {published:>10} {np.median(runs['time']):8.2f} {kept:>8s}  {', '.join(more)}"
    ).rstrip()


if __name__ == "__main__":
    main()
