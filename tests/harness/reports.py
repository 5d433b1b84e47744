"""What a harness counted and found."""

import argparse
import inspect
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from harness import subjects


class Report:
    """Counts and findings; findings are texts."""

    def __init__(self):
        self.counts = {}
        self.findings = []

    def count(self, what, number=1):
        self.counts[what] = self.counts.get(what, 0) + number

    def find(self, text):
        self.findings.append(text)

    def add(self, other):
        for what, number in other.counts.items():
            self.count(what, number)
        self.findings += other.findings


def in_processes(function, jobs, processes):
    """Return the report of all jobs: function(job) in this process, or in several."""
    report = Report()
    if processes == 1:
        for job in jobs:
            report.add(function(job))
        return report
    with ProcessPoolExecutor(processes) as pool:
        for part in pool.map(function, jobs):
            report.add(part)
    return report


def conclude(report, began):
    """Print the figures, and the findings if there are any; return the exit code."""
    figures = ", ".join(f"{number} {what}" for what, number in report.counts.items())
    print(f"{figures}; {len(report.findings)} findings; {time.monotonic() - began:.0f} s")
    for finding in report.findings[:20]:
        print(f"  {finding}", file=sys.stderr)
    return 1 if report.findings else 0


def run(function, jobs, last=Report, names=True, layouts=True, **defaults):
    """Run a harness from its command line: function(job) for all jobs; return the exit code.

    The options are names of estimators, layouts, a seed and a number of processes, and those of
    `defaults`. `jobs` returns the jobs that they ask for; `last` returns a report of its own.
    """
    parser = argparse.ArgumentParser(description=inspect.getdoc(sys.modules["__main__"]))
    if names:
        parser.add_argument("--names", nargs="*", default=subjects.NAMES, help="default all")
    if names and layouts:
        parser.add_argument("--layouts", nargs="*", default=["dense"], choices=subjects.LAYOUTS)
    for name, default in {**defaults, "seed": 0, "processes": 1}.items():
        kind = {"type": str if default is None else type(default)}
        kind = {"action": "store_true"} if default is False else kind
        parser.add_argument(f"--{name}", default=default, **kind)
    options = parser.parse_args()
    began = time.monotonic()
    report = in_processes(function, jobs(options), options.processes)
    report.add(last())
    return conclude(report, began)
