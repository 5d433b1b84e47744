"""What a harness counted and found."""

import sys
import time
from concurrent.futures import ProcessPoolExecutor


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
