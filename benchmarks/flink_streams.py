"""Measure what a row costs in a stream of Flink that is learnt by a model for each key.

    python benchmarks/flink_streams.py [--rows FEW MANY] [--keys N ...] [--bundle N] [--alone]

Two jobs on this machine, of few rows and of many, give the processor time of a row, without that
which it takes to begin: of Python (the workers are threads of this process) and of Java. "nothing"
is a keyed function that gives each row as it is, which is what Flink itself takes. "state" is the
size of the state of a key in the end, in KB: the bytes of its model. With `--alone` there is no
job: the function gets bundles of rows from this process, and its state is written after each.
"""

import os
import pickle
import time
from pathlib import Path

from command import read_options
from pyflink.common import Configuration, Row, Types, WatermarkStrategy
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

from onlinekern import FOGDRegressor, KernelRLSRegressor, PARegressor
from onlinekern.distributed import flink
from onlinekern.distributed.flink import keys
from onlinekern.distributed.keyed import KeyLearner
from onlinekern.fitted.save import to_bytes

LEARNERS = {
    "PARegressor": lambda: PARegressor(random_state=0),
    "FOGDRegressor": lambda: FOGDRegressor(n_components=100, random_state=0),
    "KernelRLSRegressor": lambda: KernelRLSRegressor(n_components=100, random_state=0),
}
TICK = os.sysconf("SC_CLK_TCK")


class Nothing(KeyedProcessFunction):
    """Gives each row as it is."""

    def process_element(self, value, ctx):
        """Yield a row."""
        yield value


def row_of(number, n_keys):
    """Return a key, four numbers and a target."""
    a, b, c, d = ((number * prime % 1009) / 500 - 1 for prime in (7, 31, 127, 409))
    return number % n_keys, a, b, c, d, a * b + c


def rows_of(environment, n_rows, n_keys):
    """Return a stream of rows: a key, four numbers, a target."""

    def row(number):
        return Row(*row_of(number, n_keys))

    names = ["key", "a", "b", "c", "d", "y"]
    kind = Types.ROW_NAMED(names, [Types.LONG()] + 5 * [Types.DOUBLE()])
    numbers = NumberSequenceSource(0, n_rows - 1)
    numbers = environment.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers")
    return numbers.map(row, output_type=kind)


def java_seconds():
    """Return the processor time of the processes that this one has begun."""
    busy = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        fields = stat.read_text().rpartition(")")[2].split()
        if int(fields[1]) == os.getpid():
            busy += int(fields[11]) + int(fields[12])
    return busy / TICK


def run(make, n_rows, n_keys, bundle):
    """Return the seconds of Python and of Java of a job, and the KB of a model."""
    configuration = Configuration()
    configuration.set_integer("parallelism.default", 1)
    configuration.set_integer("python.fn-execution.bundle.size", bundle)
    environment = StreamExecutionEnvironment.get_execution_environment(configuration)
    rows = rows_of(environment, n_rows, n_keys)
    before = time.process_time(), java_seconds()
    if make is None:
        keyed = rows.key_by(lambda row: row[0], key_type=Types.LONG()).process(Nothing())
        found = keyed.filter(lambda row: False)
    else:
        found = flink.learn_stream(make(), rows, "key", "y").models
    with found.execute_and_collect() as models:
        sizes = [len(row[1]) for row in models]
    after = time.process_time(), java_seconds()
    size = sum(sizes) / len(sizes) / 1000 if sizes else 0.0
    return after[0] - before[0], after[1] - before[1], size


class Alone:
    """What a function of one key asks Flink for: its states, the time, timers that nobody sets."""

    def __init__(self):
        self.kept, self.rows = None, []

    def get_state(self, descriptor):
        return self

    def get_list_state(self, descriptor):
        return Waiting()

    def timer_service(self):
        return self

    def register_event_time_timer(self, when):
        pass

    register_processing_time_timer = register_event_time_timer

    def current_watermark(self):
        return 0

    def timestamp(self):
        return None

    def value(self):
        return self.kept

    def update(self, value):
        self.kept = value


class Waiting(list):
    """A state of rows."""

    add = list.append

    def get(self):
        """Return the rows."""
        return self

    def update(self, rows):
        """Keep these rows alone."""
        self[:] = rows


def run_alone(make, n_rows, n_keys, bundle):
    """Return the microseconds of a row, and the KB of a model."""
    names = ["key", "a", "b", "c", "d", "y"]
    model = to_bytes(make())
    learner = KeyLearner(model, names[1:5], "y", None, None)
    functions = [keys.Models(learner, names) for _ in range(n_keys)]
    flinks = [Alone() for _ in functions]
    for function, one in zip(functions, flinks, strict=True):
        function.open(one)
    rows = [row_of(number, n_keys) for number in range(n_rows)]
    began, sizes = time.process_time(), [0]
    for first in range(0, n_rows, bundle):
        some = rows[first : first + bundle]
        for row in some:
            functions[row[0]].process_element(row, flinks[row[0]])
        for key in {row[0] for row in some}:
            for _ in functions[key].on_timer(keys.AT_ONCE, flinks[key]):
                pass
            sizes.append(len(pickle.dumps(flinks[key].kept)))
    return (time.process_time() - began) / n_rows * 1e6, max(sizes) / 1000


def main():
    options = read_options(
        __doc__,
        rows={"type": int, "nargs": 2, "default": [10_000, 60_000]},
        keys=[10, 100],
        bundle=1000,
        alone=False,
    )
    few, many = options.rows
    if options.alone:
        print("| learner | keys | rows of a key in a bundle | µs a row | state, KB |")
        print("|---|---|---|---|---|")
        for n_keys in options.keys:
            for name, make in LEARNERS.items():
                cost, size = run_alone(make, many, n_keys, options.bundle)
                in_bundle = options.bundle // n_keys
                print(f"| {name} | {n_keys} | {in_bundle} | {cost:.0f} | {size:.1f} |", flush=True)
        return
    print(
        "| learner | keys | Python, µs a row | Java, µs a row | state, KB |\n|---|---|---|---|---|"
    )
    # Java compiles what it runs: the first jobs are none to be measured.
    for make in (None, *LEARNERS.values()):
        run(make, few, options.keys[0], options.bundle)
    for n_keys in options.keys:
        for name, make in {"nothing": None, **LEARNERS}.items():
            less, more = (run(make, n, n_keys, options.bundle) for n in (few, many))
            python, java = ((more[k] - less[k]) / (many - few) * 1e6 for k in (0, 1))
            print(f"| {name} | {n_keys} | {python:.0f} | {java:.0f} | {more[2]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
