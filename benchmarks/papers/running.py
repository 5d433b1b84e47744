"""Run what the results lack: rows and orders, in several processes, with the time that is left."""

import sys
import time
import warnings
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from functools import cache
from multiprocessing import get_context

import numpy as np
from rows import TABLES
from threadpoolctl import threadpool_limits


@cache
def opened(make, path):
    """Return the data sets of a folder, once in a process."""
    return make(path)


def run_order(make, path, table, place, seed):
    """Run one order of a row; return the measures and its seconds, None if there is no file."""
    row, start = TABLES[table][place], time.monotonic()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            data = opened(make, path).get(row.data)
        except FileNotFoundError:
            return None
        loaded = time.monotonic()
        measures = row.protocol(row.build, data, seed)._asdict()
    end = time.monotonic()
    return {**measures.pop("more"), **measures, "seconds": end - loaded}, end - start


class Clock:
    """Tells how long the rest takes, from orders of the same row, set or table that were run.

    Parameters
    ----------
    results : Results
    jobs : int
    """

    def __init__(self, results, jobs):
        self.results, self.jobs, self.taken = results, jobs, {}

    def note(self, table, row, seconds):
        """Note the seconds of an order."""
        for key in ((table, row.data), table, None):
            self.taken.setdefault(key, []).append(seconds)

    def expected(self, table, row):
        """Return the seconds that an order of a row is expected to take."""
        own = self.results.get(table, row).get("seconds")
        for key in ((table, row.data), table, None):
            own = own or self.taken.get(key)
        return np.mean(own) if own else 0.0

    def left(self, tasks):
        """Return the time that tasks take, in words."""
        seconds = sum(self.expected(table, row) for table, row, *_ in tasks) / self.jobs
        hours, minutes = divmod(round(seconds / 60), 60)
        return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"


def lacking(chosen, results, orders=None):
    """Return (table, row, place, seed) of the orders that the results lack."""
    return [
        (table, row, place, seed)
        for table, place, row in chosen
        for seed in range(results.n_orders(table, row), orders or row.orders)
    ]


def run(tasks, results, make, path, jobs=1):
    """Run tasks, an order after the other of each row, and note what comes of them."""
    clock, queue, pending = Clock(results, jobs), list(tasks), {}
    total, done = len(tasks), 0
    if not tasks:
        return
    say(f"{total} orders to run on {jobs} processes")
    with Pool(jobs) as pool:
        while queue or pending:
            while queue and len(pending) < jobs:
                task = next_task(queue, pending.values())
                if task is None:
                    break
                queue.remove(task)
                pending[pool.submit(run_order, make, path, task[0], *task[2:])] = task
            for future in pool.first(pending):
                table, row, _, seed = pending.pop(future)
                done += 1
                found = future.result()
                if found is None:
                    rest = [task for task in queue if task[1].data == row.data]
                    done += len(rest)
                    queue = [task for task in queue if task not in rest]
                    say(f"[{done}/{total}] {row.data}: no data")
                    continue
                measures, seconds = found
                clock.note(table, row, seconds)
                results.add(table, row, measures)
                rest = clock.left([*queue, *pending.values()])
                say(
                    f"[{done}/{total}] {table} {row.data}, {row.learner}, order {seed + 1}: "
                    f"{measures['error']:.2f} in {seconds:.1f} s; {rest} left"
                )


def next_task(queue, running):
    """Return the first task whose row is not being run: orders of a row are noted in turn."""
    busy = {(table, place) for table, _, place, _ in running}
    return next((task for task in queue if (task[0], task[2]) not in busy), None)


def say(text):
    """Print progress beside the tables."""
    print(text, file=sys.stderr, flush=True)


class Pool:
    """Some processes; with one job, this process.

    Parameters
    ----------
    jobs : int
    """

    def __init__(self, jobs):
        self.executor = None
        if jobs > 1:
            self.executor = ProcessPoolExecutor(jobs, get_context("spawn"))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.executor:
            self.executor.shutdown(wait=kind is None, cancel_futures=True)

    def submit(self, function, *arguments):
        """Start a call; return what stands for its result."""
        return (
            self.executor.submit(function, *arguments)
            if self.executor
            else Now(function, arguments)
        )

    def first(self, pending):
        """Return those calls of `pending` that have ended, one at least."""
        if self.executor is None:
            return list(pending)
        return wait(pending, return_when=FIRST_COMPLETED).done


class Now:
    """A call that is made when its result is asked for."""

    def __init__(self, function, arguments):
        self.function, self.arguments = function, arguments

    def result(self):
        """Make the call."""
        return self.function(*self.arguments)
