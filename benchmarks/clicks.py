"""Measure learners of a wide stream of clicks: log loss, AUC, rows per second, memory.

    python benchmarks/clicks.py [--rows N] [--slots N] [--ways NAME,...] [--write FOLDER]

The stream is made here, in the form of Criteo's: 13 numbers with holes and 26 categories, of 3 to a
million values. A click comes of a sparse hidden model: of effects of single values, of pairs of
values, and of numbers. Each row is predicted, then learnt; the log loss and the AUC are those of
the second half. Each way runs in a process of its own, whose largest memory is told. A way reads
the same Parquet file, in blocks of a thousand rows; Vowpal Wabbit reads text of its own, which is
written before its clock starts. `--write` keeps the files.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from command import read_options

BLOCK, GROUP = 1000, 50
NUMBERS, CATEGORIES = 13, 26
SIZES = np.unique(np.geomspace(3, 1e6, CATEGORIES).astype(int))
# Columns whose values have effects of their own, and pairs of columns that have some together.
SINGLE = (1, 3, 4, 7, 8, 10, 11, 13, 16, 19, 22)
PAIRS = ((2, 6), (5, 9), (0, 14), (4, 10))


def effects(numbers, seed, share=0.5):
    """Return an effect for each number: 0 for most, else normal; the same for the same number."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    for shift in (30, 27, 31):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(0xBF58476D1CE4E5B9)
    low, high = (mixed & np.uint64(0xFFFFFFFF)), mixed >> np.uint64(32)
    first, second = (low + 0.5) / 2.0**32, (high + 0.5) / 2.0**32
    normal = np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second)
    return np.where((mixed >> np.uint64(17)) % np.uint64(1000) < 1000 * share, normal, 0.0)


def drawn(rng, size, n):
    """Return values 0 ... size - 1, of which few are frequent: Zipf's law."""
    if size <= 100:
        chances = 1 / np.arange(1, size + 1)
        return rng.choice(size, n, p=chances / chances.sum())
    # The inverse of the distribution function of 1 / x between 1 and size + 1.
    return np.minimum((size + 1) ** rng.random(n) - 1, size - 1).astype(np.int64)


def block(number, n=BLOCK):
    """Return a block of the stream: an Arrow table with the target `click`, and its chances."""
    rng = np.random.default_rng([7, number])
    codes = [drawn(rng, size, n) for size in SIZES]
    found = np.exp(rng.normal(1.0, 1.2, (n, NUMBERS))).round(rng.integers(0, 2))
    holes = rng.random((n, NUMBERS)) < np.linspace(0, 0.45, NUMBERS)
    score = np.full(n, -1.9)
    for place in SINGLE:
        score += 0.8 * effects(codes[place], place)
    for place, (a, b) in enumerate(PAIRS):
        score += 0.8 * effects(codes[a] * 2_000_003 + codes[b], 100 + place)
    score += 0.3 * np.where(holes[:, 5], 1.0, np.log1p(found[:, 5]) - 1)
    score += 0.25 * np.where(holes[:, 2], 0.0, found[:, 2] > 5)
    chances = 1 / (1 + np.exp(-score))
    click = rng.random(n) < chances
    columns = {"click": click.astype(np.int64)}
    for place in range(NUMBERS):
        columns[f"i{place}"] = pa.array(found[:, place], mask=holes[:, place])
    for place, values in enumerate(codes):
        columns[f"c{place}"] = pa.array([f"{value * 2654435761 % 2**32:08x}" for value in values])
    return pa.table(columns), chances


def write(folder, n):
    """Write the stream as Parquet and as text of Vowpal Wabbit; return chances and clicks."""
    chances, clicks, group, writer = [], [], [], None
    with open(folder / "clicks.vw", "w") as lines:
        for number in range(n // BLOCK):
            table, known = block(number)
            writer = writer or pq.ParquetWriter(folder / "clicks.parquet", table.schema)
            group.append(table)
            # The reader keeps something of each group of rows.
            if len(group) == GROUP or number == n // BLOCK - 1:
                writer.write_table(pa.concat_tables(group))
                group.clear()
            chances.append(known)
            clicks.append(table["click"].to_numpy())
            lines.writelines(map(vw_line, table.to_pylist()))
    writer.close()
    return np.concatenate(chances), np.concatenate(clicks)


def vw_line(row):
    """Return a row as a line of Vowpal Wabbit's text; a number that is missing is a feature."""
    click = row.pop("click")
    numbers = [f"{k}:{v}" if v is not None else f"{k}m" for k, v in row.items() if k[0] == "i"]
    texts = [f"{k}={v}" for k, v in row.items() if k[0] == "c"]
    return f"{1 if click else -1} |n {' '.join(numbers)} |c {' '.join(texts)}\n"


def blocks(folder):
    """Yield (X, y) of the Parquet file."""
    for batch in pq.ParquetFile(folder / "clicks.parquet").iter_batches(BLOCK):
        table = pa.Table.from_batches([batch])
        yield table.drop(["click"]), table["click"].to_numpy()


def along(model, folder):
    """Return the probabilities of a learner of ours, of each row before it is learnt."""
    found = []
    for number, (X, y) in enumerate(blocks(folder)):
        found.append(model.predict_proba(X)[:, 1] if number else np.full(len(y), 0.5))
        model.partial_fit(X, y, classes=[0, 1])
    return np.concatenate(found)


def ours(learner, **encoding):
    """Return a way: a learner behind an encoder of tables with these parameters."""

    def run(folder, slots):
        import onlinekern as ok

        given = encoding if "categories" not in encoding else {"slots": slots, **encoding}
        model = ok.make_stream_pipeline(ok.TableEncoder(**given), learner(ok))
        return along(model, folder)

    return run


class Hashed:
    """scikit-learn's way: FeatureHasher beside standardised numbers, and SGD of the log loss."""

    def __init__(self, slots, **parameters):
        from sklearn.feature_extraction import FeatureHasher
        from sklearn.linear_model import SGDClassifier
        from sklearn.preprocessing import StandardScaler

        self.hasher = FeatureHasher(slots, input_type="string", alternate_sign=False)
        self.scaler = StandardScaler()
        self.model = SGDClassifier(loss="log_loss", random_state=0, **parameters)

    def rows(self, X, learn):
        from scipy import sparse

        names = [name for name in X.column_names if name[0] == "c"]
        texts = [[f"{name}={text}" for text in X[name].to_pylist()] for name in names]
        numbers = np.column_stack([X[name].to_numpy() for name in X.column_names if name[0] == "i"])
        missing = np.isnan(numbers)
        if learn:
            self.scaler.partial_fit(numbers)
        numbers = np.nan_to_num(self.scaler.transform(numbers))
        hashed = self.hasher.transform(zip(*texts, strict=True))
        return sparse.hstack([numbers, missing, hashed], format="csr")

    def predict_proba(self, X):
        return self.model.predict_proba(self.rows(X, learn=False))

    def partial_fit(self, X, y, classes):
        self.model.partial_fit(self.rows(X, learn=True), y, classes=classes)


def sgd(**parameters):
    """Return the way of scikit-learn with these parameters of its SGD."""
    return lambda folder, slots: along(Hashed(slots, **parameters), folder)


def vowpal(*options):
    """Return the way of Vowpal Wabbit, which reads and predicts in its own program."""

    def run(folder, slots):
        import vowpalwabbit

        given = ["-d", folder / "clicks.vw", "-p", folder / "vw.txt", "-b", slots.bit_length() - 1,
                 "--loss_function", "logistic", "--link", "logistic", "--quiet"]  # fmt: skip
        vowpalwabbit.Workspace(" ".join(map(str, [*given, *options]))).finish()
        return np.loadtxt(folder / "vw.txt")

    return run


WAYS = {
    "race": ours(lambda ok: ok.StreamClassifier(random_state=0), categories="auto"),
    "AROW": ours(lambda ok: ok.AROWClassifier(r=30), categories="auto"),
    "SCW": ours(lambda ok: ok.SCWClassifier(C=0.1), categories="auto"),
    "race, 64 features a column": ours(lambda ok: ok.StreamClassifier(random_state=0)),
    "AROW, 64 features a column": ours(lambda ok: ok.AROWClassifier(r=30)),
    "SGDClassifier": sgd(),
    "SGDClassifier, small steps": sgd(learning_rate="invscaling", eta0=0.3, power_t=0.25, alpha=0),
    "Vowpal Wabbit": vowpal(),
    "Vowpal Wabbit, pairs": vowpal("-q", "cc"),
}


def measure(name, folder, slots):
    """Run a way, and print its figures as JSON: this is a process of its own."""
    began, wall = time.process_time(), time.perf_counter()
    chances = WAYS[name](folder, slots)
    cpu, wall = time.process_time() - began, time.perf_counter() - wall
    np.save(folder / "chances.npy", chances)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"cpu": cpu, "wall": wall, "memory": memory}))


def figures(chances, clicks):
    """Return the log loss and the AUC of the second half."""
    from sklearn.metrics import log_loss, roc_auc_score

    half = len(clicks) // 2
    bounded = np.clip(chances[half:], 1e-6, 1 - 1e-6)
    return log_loss(clicks[half:], bounded), roc_auc_score(clicks[half:], bounded)


def compare(options, folder):
    """Print a line for each way."""
    chances, clicks = write(folder, options.rows)
    half = len(clicks) // 2
    best = figures(chances, clicks)
    rate = figures(np.full(len(clicks), clicks[:half].mean()), clicks)
    print("way|log loss|AUC|rows a second|MB", flush=True)
    print(f"the hidden model itself|{best[0]:.4f}|{best[1]:.4f}||")
    print(f"the rate of clicks|{rate[0]:.4f}|{rate[1]:.4f}||", flush=True)
    for name in options.ways.split(";"):
        command = [sys.executable, "-W", "ignore", __file__, "--slots", str(options.slots)]
        done = subprocess.run(
            [*command, "--measure", name, "--write", str(folder)],
            stdout=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            print(f"{name}|failed", flush=True)
            continue
        told = json.loads(done.stdout.splitlines()[-1])
        loss, auc = figures(np.load(folder / "chances.npy"), clicks)
        speed = len(clicks) / told["cpu"]
        print(f"{name}|{loss:.4f}|{auc:.4f}|{speed:,.0f}|{told['memory']:.0f}", flush=True)


def main():
    options = read_options(
        __doc__, rows=1_000_000, slots=2**20, ways=";".join(WAYS), write=Path, measure=None
    )
    if options.measure:
        measure(options.measure, options.write, options.slots)
    elif options.write:
        compare(options, options.write)
    else:
        with tempfile.TemporaryDirectory() as folder:
            compare(options, Path(folder))


if __name__ == "__main__":
    main()
