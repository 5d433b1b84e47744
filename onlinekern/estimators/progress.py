"""How far a long `fit` is: a bar on a terminal or in a notebook, and lines in a log.

A learner with ``verbose=1`` learns its samples in parts, and shows what is done between them. Parts
change no bit of a model (docs/reliability.md). Without `verbose` there is one part, and nothing is
imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

# Samples of the first part; the next ones grow until they take the seconds below.
FIRST_PART = 256
SECONDS_OF_A_PART = 0.1
# No part is longer than this share of the whole, and as many lines come in a log.
LINES = 10
# Shows a text, the number done and the total.
Show: TypeAlias = Callable[[int, int, str], Any]


class Silent:
    """Shows nothing, and lets all samples be learnt at once."""

    def parts(self, order: Any, n: int) -> Iterator[Any]:
        """Yield the places of n samples, in an order; None are all as they stand."""
        yield order

    def add(self, n: int, model: Any = None) -> None:
        """Take note of n more that are done, which a model has learnt."""


class Progress(Silent):
    """Shows how many of all are done, how fast, and the errors of a model on the way.

    Parameters
    ----------
    name : str
        Of what is shown.
    total : int
    unit : str
        What is counted, in the plural.
    show : callable
        Is told of each part.
    """

    def __init__(self, name: str, total: int, unit: str, show: Show) -> None:
        self.name, self.total, self.unit, self.show = name, total, unit, show
        self.done, self.began, self.lock = 0, perf_counter(), Lock()
        self.show(0, total, name)

    def parts(self, order: Any, n: int) -> Iterator[Any]:
        places = np.arange(n) if order is None else order
        start, size = 0, FIRST_PART
        while start < n:
            stop = min(n, start + min(size, max(FIRST_PART, self.total // LINES)))
            began = perf_counter()
            yield places[start:stop]
            seconds = perf_counter() - began
            if seconds < SECONDS_OF_A_PART:
                size *= 2
            elif seconds > 4 * SECONDS_OF_A_PART:
                size = max(1, size // 2)
            start = stop

    def add(self, n: int, model: Any = None) -> None:
        with self.lock:
            self.done += n
            text = f"{self.name}: {self.done:,} of {self.total:,} {self.unit}"
            if model is not None:
                rate = self.done / max(perf_counter() - self.began, 1e-9)
                text += f", {rate:,.0f} a second, {errors_of(model)}"
            self.show(self.done, self.total, text)


def errors_of(model: Any) -> str:
    """Return the mistakes of a model on the way, or its mean loss, as text."""
    seen = max(1, model.n_seen)
    if model.head.n_labels > 0:
        return f"{model.n_mistakes / seen:.1%} mistakes so far"
    return f"mean loss {model.cumulative_loss / seen:.4g} so far"


@contextmanager
def progress_of(learner: Any, total: int, unit: str = "samples") -> Iterator[Silent]:
    """Yield the progress display of a learner's `fit`; it is silent unless `verbose` is set."""
    if not learner.verbose:
        yield Silent()
        return
    with place_to_show() as show:
        yield Progress(type(learner).__name__, total, unit, show)


@contextmanager
def place_to_show() -> Iterator[Show]:
    """Yield the function that shows: in a notebook, on a terminal, or as lines."""
    if in_notebook():
        yield notebook_bar()
        return
    console = terminal()
    if console is None:
        yield lines_on(sys.stderr)
        return
    with moving_bar(console) as show:
        yield show


def in_notebook() -> bool:
    """Return whether a kernel of Jupyter runs this."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def terminal() -> Any:
    """Return rich's console on standard error; None without rich, or if that is no terminal."""
    if not sys.stderr.isatty():
        return None
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        return None
    console = Console(stderr=True, highlight=False)
    return console if console.is_terminal else None


@contextmanager
def moving_bar(console: Any, transient: bool = False) -> Iterator[Show]:
    """Yield a function that moves a bar of rich; a transient one is gone at the end."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=transient) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, text: bar.update(
            task, completed=done, total=total, description=text
        )


@contextmanager
def bar_on_terminal() -> Iterator[Any]:
    """Yield a function (done, total or None, text) that moves a bar, if there is a terminal."""
    console = terminal()
    if console is None:
        yield lambda done, total, text: None
        return
    with moving_bar(console, transient=True) as show:
        yield show


def notebook_bar() -> Show:
    """Return a function that moves a bar below the cell: HTML alone, without widgets."""
    from html import escape

    from IPython.display import HTML, display

    def drawn(done: int, total: int, text: str) -> Any:
        bar = f'<progress value="{done}" max="{total}"></progress>'
        return HTML(f"<div>{bar} {escape(text)}</div>")

    handle = display(drawn(0, 1, ""), display_id=True)
    return lambda done, total, text: handle.update(drawn(done, total, text))


def lines_on(stream: Any) -> Show:
    """Return a function that writes some lines, each with its end, as a log file needs."""
    told = 0

    def show(done: int, total: int, text: str) -> None:
        nonlocal told
        tenth = LINES * done // max(1, total)
        if tenth > told:
            told = tenth
            print(text, file=stream, flush=True)

    return show
