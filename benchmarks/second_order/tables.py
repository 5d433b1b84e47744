"""Define the tables: sets in the rows, learners in the columns."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import columns
import sets
from baselines import beside_split, beside_whole
from figures import markdown
from methods import drawn, drawn_targets, drawn_whole, over_orders


@dataclass
class Table:
    """A table: rows are sets, columns learners.

    Attributes
    ----------
    title : str
    names : list of str
        The sets, unless others are asked for.
    learners : callable
        (least squares, list of n_components) -> name -> learner.
    shown : callable
        (figures of a set by learner) -> text by column.
    draw : callable
        (folder, set) -> the function from an order to its rows.
    machine : callable or None
        (folder, set, number of orders) -> the figures of the tuned machine that stands beside.
    sizes : list of int
        n_components, unless others are asked for.
    """

    title: str
    names: list
    learners: Callable
    shown: Callable
    draw: Callable = drawn
    machine: Callable | None = None
    sizes: list = field(default_factory=lambda: [400, 1000])

    def compute(self, options, kept, square, key):
        """Compute what is not known of the table; return the figures by set and learner."""
        found = {}
        for name in options.sets or self.names:
            draw, found[name] = self.draw(options.data, name), {}
            if self.machine:
                beside = partial(self.machine, options.data, name, options.orders)
                where = f"{self.machine.__name__}, {name}, {options.orders}"
                found[name]["SVC"] = kept.get(where, beside)
            made = self.learners(square, options.n_components or self.sizes)
            for learner, one in made.items():
                where = f"{key}, {name}, {learner}, {options.orders}"
                found[name][learner] = kept.get(
                    where, lambda one=one, draw=draw: over_orders(one, draw, options.orders)
                )
            print(f"{name}: {self.shown(found[name])}", flush=True)
        return found

    def markdown(self, found):
        """Return the table."""
        texts = {name: self.shown(figures) for name, figures in found.items()}
        columns = list(next(iter(texts.values())))
        rows = {name: list(text.values()) for name, text in texts.items()}
        return f"{self.title}\n\n{markdown(columns, rows)}\n"


SMALL = [400]
TABLES = {
    "mistakes": Table(
        "Mistakes in one pass over at most 10,000 rows, %",
        sets.STREAMS, columns.stream_learners, columns.mistakes_of, partial(drawn, test=False),
    ),
    "split": Table(
        "Test error after one pass over at most 8,000 rows, % (share that entered)",
        sets.SPLIT, columns.split_learners, columns.errors_of, machine=beside_split,
    ),
    "more": Table(
        "The same on sets that no choice was made on",
        sets.MORE, columns.split_learners, columns.errors_of, machine=beside_split,
    ),
    "whole": Table(
        "Test error after one pass over the whole training part, % (share that entered; seconds)",
        sets.WHOLE, columns.whole_learners, columns.errors_and_costs, drawn_whole,
        machine=beside_whole,
    ),
    "selection": Table(
        "Who becomes a landmark: test error, % (landmarks)",
        sets.SELECTED, columns.selection_learners, columns.errors_and_landmarks,
    ),
    "defaults": Table(
        "Landmarks, margin and reg: test error, % (share that entered)",
        [*sets.SPLIT, *sets.MORE], columns.default_learners, columns.errors_and_shares, sizes=SMALL,
    ),
    "gates": Table(
        "Gates: test error after one pass over at most 10,000 rows, % (share that entered)",
        sets.GATES, columns.gate_learners, columns.errors_and_shares,
        partial(drawn, most=10_000), sizes=SMALL,
    ),
    "shares": Table(
        "Test error after one pass over at most 20,000 rows, % (share that entered)",
        sets.SHARES, columns.share_learners, columns.errors_and_shares,
        partial(drawn, most=20_000), sizes=SMALL,
    ),
    "sizes": Table(
        "n_components: test error, % (seconds of CPU time)",
        sets.SIZES, columns.size_learners, columns.errors_and_seconds, machine=beside_split,
        sizes=[400, 1000, 2000, 4000],
    ),
    "regression": Table(
        "Mean squared error of a standardised target in one pass over at most 8,000 rows",
        [*sets.TARGETS, *sets.MORE_TARGETS], columns.target_learners, columns.squares_of,
        drawn_targets, sizes=SMALL,
    ),
}  # fmt: skip
