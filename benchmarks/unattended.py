"""asv plugin: the first run asks no question, and a smoke run is short.

This machine is recorded with asv's defaults. If the environment variable ONLINEKERN_BENCH is smoke,
each value of each parameter is run, and not each combination.
"""

import os

from asv.benchmarks import Benchmarks
from asv.machine import Machine, MachineCollection
from asv.util import UserError


def each_value(sizes):
    """Return the numbers, in asv's order, of few rows of a grid with each value of each axis."""
    chosen = set()
    for i in range(max(sizes)):
        row = 0
        for size in sizes:
            row = row * size + i % size
        chosen.add(row)
    return chosen


def thinned(discover):
    """Return `Benchmarks.discover`, of whose benchmarks few combinations of parameters are left."""

    def found(*arguments, **options):
        benchmarks = discover(*arguments, **options)
        for name, rows in benchmarks.benchmark_selection.items():
            sizes = [len(values) for values in benchmarks.get(name, {"params": []})["params"]]
            if sizes:
                kept = each_value(sizes)
                benchmarks.benchmark_selection[name] = [row for row in rows if row in kept]
        return benchmarks

    return found


def setup():
    """Register the plugin: asv calls this when it loads it."""
    name = Machine.get_unique_machine_name()
    try:
        MachineCollection.load(name)
    except UserError:
        MachineCollection.save(name, Machine.get_defaults())
    if os.environ.get("ONLINEKERN_BENCH") == "smoke":
        Benchmarks.discover = thinned(Benchmarks.discover)
