"""Print each learner's time beside the limit of the machine and beside its goal.

    python benchmarks/ceiling.py [--data DIR] [--rows N] [--repeats N] [--only TEXT]

One process, one thread, all runs in turns; medians of CPU time. The limit of a learner is the work
it cannot do without, each part measured alone on blocks of the learner's size: the products of the
samples with the support vectors (their mean number over the stream) or the random frequencies, and
one exponential, or one sine and cosine, of each product. Dense rows that are mostly zeros have the
lower limit of sparse rows, because the library packs them. The limit of a linear learner is to
multiply its samples with weights, and to add them to weights, all samples at once: no score waits
for the step before. The environment variable ONLINEKERN_ISA forces an instruction set. A goal in
brackets is stated for x86-64-v4 while another instruction set is in use. DIR holds a9a and ijcnn1
as NAME.{train,test}.libsvm.xz.
"""

import functools
import statistics

import numpy as np
from cases import CASES, Streams, goal_at
from command import read_options
from limits import Limits, gigaflops
from ratio import cpu_us, naive, spa_naively
from threadpoolctl import threadpool_limits

import onlinekern
from benchmarks import common, streams
from onlinekern.core.linalg.frequent_directions import FrequentDirections

NAIVE_REPEATS = 2
PARTS = {
    "kernel": ["product", "exp"],
    "frequencies": ["product", "waves"],
    "prototypes": ["product"],
    "linear": ["linear"],
}
SHRINKS = [((784, 78), 4.0), ((5_000, 50), 10.0), ((200, 20), 2.0)]


class Run:
    """A case in one layout and dtype."""

    def __init__(self, case, layout, dtype, X, y):
        self.case, self.layout, self.dtype = case, layout, dtype
        self.X, self.y = streams.laid_out(X, dtype, layout), y
        self.times = []
        self.size = self.mean_size()
        self.limits = Limits(self.X)
        self.groups()

    def mean_size(self, pieces=40):
        """Return the mean number of support vectors over the stream."""
        model, sizes = self.case.new(len(self.y)), []
        for part in np.array_split(np.arange(len(self.y)), pieces):
            common.learn(model, self.X[part[0] : part[-1] + 1], self.y[part])
            sizes.append(getattr(model, "n_support_", 0))
        self.model = model
        return statistics.mean(sizes)

    def groups(self):
        """Return the parts and their sizes in groups; the cheapest part of a group counts."""
        product = ["product"]
        if self.layout == "dense" and np.count_nonzero(self.X[:64]) < 64 * self.X.shape[1] / 3:
            product.append("packed")
        found = []
        for part in self.case.parts:
            size, names = self.size, PARTS[part]
            if part == "frequencies":
                size = self.model.n_components
            if part == "prototypes":
                size = self.model.n_prototypes
            for name in names:
                alternatives = product if name == "product" else [name]
                found.append({self.limits.add(one, size): size for one in alternatives})
        return found

    def learn(self):
        """Time one pass."""
        self.times.append(
            cpu_us(lambda: common.learn(self.case.new(len(self.y)), self.X, self.y), len(self.y))[0]
        )

    def limit(self):
        """Return the limit in microseconds per sample."""
        return sum(
            min(self.limits.us(key, size) for key, size in group.items()) for group in self.groups()
        )


def judged(value, goal, level, better=np.less_equal):
    """Return a goal, and whether it is met."""
    if goal is None:
        return f"{'-':>8} {'':4}"
    wanted, of = goal
    text = f"{wanted:g}" if of == level else f"({wanted:g})"
    return f"{text:>8} {'met' if better(value, wanted) else 'no':4}"


def print_rates(drawn, repeats):
    """Print the rates of the library's and BLAS's product at the shapes of a9a and ijcnn1."""
    print("\nmatrix product alone, GFlop/s: the library's panels / BLAS")
    print(f"{'':22}{'64 rows':>18}{'256 rows':>18}")
    for name in ("ijcnn1", "a9a"):
        for dtype in common.DTYPES:
            X = streams.laid_out(drawn.get(name)[0][:256], dtype, "dense")
            cells = [gigaflops(X, 1_024, block, repeats) for block in (64, 256)]
            shown = "".join(f"{ours:10.1f} /{blas:6.1f}" for ours, blas in cells)
            print(f"d = {X.shape[1]:3}, {dtype:13}{shown}")


def print_elements(repeats):
    """Print the time of the exponential and of the sines alone."""
    print("\nnanoseconds per element: exp, sine and cosine")
    for dtype in common.DTYPES:
        limits = Limits(np.zeros((64, 1), dtype))
        keys = [limits.add(part, 1_024) for part in ("exp", "waves")]
        for _ in range(repeats):
            limits.measure()
        exp, waves = (1e3 * limits.us(key, 1) for key in keys)
        print(f"{dtype:10}{exp:8.3f}{waves:8.3f}")


def print_learners(options, drawn, level):
    """Print every learner beside its limit and its goal."""
    print(
        f"\n{'learner':22}{'stream':>9}{'layout':>7} {'dtype':8}{'B':>6}{'us':>9}{'limit':>8}"
        f"{'of it':>7}{'goal':>9}     {'x naive':>9}{'goal':>9}"
    )
    for case in CASES:
        if options.only not in case.estimator or not case.available:
            continue
        X, y = drawn.get(case.stream)
        runs = [Run(case, layout, dtype, X, y) for layout in case.layouts for dtype in case.dtypes]
        slow = []
        for repeat in range(options.repeats):
            for run in runs:
                run.limits.measure()
                run.learn()
            if case.ratios and repeat < NAIVE_REPEATS:
                slow.append(naive_us(case, X, y))
        for run in runs:
            print_run(run, level, statistics.median(slow) if slow else None)


def naive_us(case, X, y):
    """Time the naive loop of SPA on the same stream."""
    uniforms = naive.gate_numbers(0, len(y))
    rows = streams.laid_out(X, "float64", "dense")
    run = functools.partial(spa_naively, rows, y, uniforms, case.parameters)
    return cpu_us(run, len(y))[0]


def print_run(run, level, slow):
    """Print a line of the table."""
    us, limit, key = statistics.median(run.times), run.limit(), (run.layout, run.dtype)
    reached = f"{limit:8.3f}{limit / us:7.0%}" if limit else f"{'-':>8}{'-':>7}"
    ratio = f"{'':>9}"
    if slow:
        goal = judged(slow / us, goal_at(run.case.ratios, key, level), level, np.greater_equal)
        ratio = f"{slow / us:9.1f} {goal}"
    print(
        f"{run.case.estimator:22}{run.case.stream:>9}{run.layout:>7} {run.dtype:8}{run.size:6.0f}"
        f"{us:9.3f}{reached} "
        f"{judged(us, goal_at(run.case.goals, key, level), level)} {ratio}",
        flush=True,
    )


def print_shrinks(repeats):
    """Print SDROGD's shrink of a sketch beside a singular value decomposition of the same rows."""
    print("\nshrink of 2 l rows of d features, times faster than LAPACK's gesdd")
    for (d, size), goal in SHRINKS:
        rows = np.random.default_rng(0).normal(size=(2 * size, d)) * np.linspace(0.1, 3, d)
        shrinks, decompositions = [], []
        for _ in range(repeats + 4):
            sketch = FrequentDirections(size, d)
            sketch.insert(rows[:-1])
            shrinks.append(cpu_us(functools.partial(sketch.insert, rows[-1:]), 1)[0])
            decompositions.append(
                cpu_us(functools.partial(np.linalg.svd, rows, full_matrices=False), 1)[0]
            )
        ratio = statistics.median(decompositions) / statistics.median(shrinks)
        met = "met" if ratio >= goal else "no"
        print(f"d = {d:5}, l = {size:3}: {ratio:6.1f}, goal {goal:g}: {met}")


def main():
    """Print all tables."""
    options = read_options(__doc__, data=None, rows=int, repeats=5, only="")
    onlinekern.show_config()
    level = onlinekern.show_config("dicts")["instruction_set"]
    drawn = Streams(options.data, options.rows)
    with threadpool_limits(1):
        if not options.only:
            print_rates(drawn, options.repeats)
            print_elements(options.repeats)
            print_shrinks(options.repeats)
        print_learners(options, drawn, level)


if __name__ == "__main__":
    main()
