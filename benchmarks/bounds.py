"""What theorems promise of eight learners beside what happened, along one stream.

The stream has two clusters and 5 % of wrong labels. Each learner is compared with the fixed
hypothesis whose bound is least at the end: a support vector machine without an offset on 100
landmarks (of FOGD: on its features), solved when all samples are known. The learners that draw are
run `--runs` times, and their means are shown. The sketch of SDROGD sees 40 features of falling
variance. Figures: docs/bounds.md.

    python benchmarks/bounds.py --plot docs/bounds.png
"""

import math

import numpy as np
from command import read_options
from sklearn.svm import LinearSVC

import onlinekern
from onlinekern.evaluate import regret_bound, sketch_bound

WIDTH = 0.5
LANDMARKS = 100
CS = (1e-4, 3e-4, 6e-4, 1e-3, 3e-3)
CONFIDENCE = 0.95
# Settings that the theorems allow, with the step sizes that make the bounds small.
LEARNERS = {
    "SPA": ("SPAClassifier", {"eta": 0.014}),
    "BOGD": ("BOGDClassifier", {"eta": 0.02, "reg": 0.1, "budget": 500}),
    "FOGD": (
        "FOGDClassifier",
        {"eta": 0.02, "loss": "hinge", "schedule": "constant", "frequencies": "plain"},
    ),
    "DualSGD": (
        "DualSGDClassifier", {"reg": 0.1, "n_components": 100_000, "frequencies": "plain"},
    ),
    "Projectron": ("ProjectronClassifier", {"eta": 0.05, "budget": None}),
    "RBP": ("RBPClassifier", {"budget": 200}),
    "Forgetron": ("ForgetronClassifier", {"budget": 500}),
}  # fmt: skip


def stream(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    X = 0.4 * rng.normal(size=(n, 2)) + 1.2 * y[:, None]
    y[rng.random(n) < 0.05] *= -1
    return X, y


def kernel_rows(X):
    """Return rows whose products are the kernel's, for functions of the landmarks."""
    Z = X[:LANDMARKS]
    inner, across = (np.exp(-WIDTH * ((A[:, None] - Z) ** 2).sum(-1)) for A in (Z, X))
    values, vectors = np.linalg.eigh(inner)
    kept = values > 1e-10 * values[-1]
    return across @ (vectors[:, kept] / np.sqrt(values[kept]))


def feature_rows(model, X):
    """Return the random features of FOGD."""
    products = X @ model.frequencies_.T
    return np.hstack([np.cos(products), np.sin(products)]) / math.sqrt(model.n_components)


def comparators(rows, y):
    """Return the norms of machines, and their hinge losses."""
    found = []
    for C in CS:
        machine = LinearSVC(
            C=C, loss="hinge", fit_intercept=False, max_iter=20_000, tol=1e-3, random_state=0
        )
        w = machine.fit(rows, y).coef_[0]
        found.append((float(np.linalg.norm(w)), np.maximum(0, 1 - y * (rows @ w)).cumsum()))
    return found


def bound_of(name, model, norm, loss):
    confidence = CONFIDENCE if name == "DualSGD" else None
    try:
        return regret_bound(model, norm, loss, confidence=confidence)
    except ValueError as error:
        if "comparator_norm" not in str(error):
            raise
        return None


def models_along(name, X, y, marks, seed):
    """Yield the model at each mark."""
    learner, parameters = LEARNERS[name]
    model = getattr(onlinekern, learner)(gamma=WIDTH, random_state=seed, **parameters)
    for start, stop in zip([0, *marks], marks, strict=False):
        yield stop, model.partial_fit(X[start:stop], y[start:stop], classes=[-1, 1])


def measure(name, X, y, marks, runs):
    """Return what the learner lost, what it may, and what the comparator lost, at the marks."""
    lost, may, best = [], [], []
    machines = comparators(kernel_rows(X), y) if name != "FOGD" else []
    for seed in range(1 if name in ("Projectron", "Forgetron") else runs):
        (*_, (n, last)) = models_along(name, X, y, marks, seed)
        if name == "FOGD":
            machines = comparators(feature_rows(last, X), y)
        ends = [(bound_of(name, last, norm, sums[n - 1]), norm, sums) for norm, sums in machines]
        _, norm, sums = min((end for end in ends if end[0]), key=lambda end: end[0].bound)
        found = [
            bound_of(name, m, norm, sums[k - 1]) for k, m in models_along(name, X, y, marks, seed)
        ]
        lost.append([one.learner for one in found])
        may.append([one.bound for one in found])
        best.append([one.comparator for one in found])
        if seed == 0:
            support = found[-1].support
            print(
                f"| {name} | {found[-1].quantity} | {norm:.2f} | {best[0][-1]:.0f} | "
                f"{lost[0][-1]:.0f} | {may[0][-1]:.0f} | {found[-1].guarantee} |"
                + (f" {last.n_support_} of {support:.0f}" if support else ""),
                flush=True,
            )
    return np.mean(lost, 0), np.mean(may, 0), np.mean(best, 0)


def measure_sketch(marks, size=10, d=40):
    """Return the largest eigenvalue of X'X - C'C, what the sketch removed, and lemma 2."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(marks[-1], d)) * 0.9 ** np.arange(d) + rng.normal(size=d)
    y = rng.integers(0, 2, len(X))
    model = onlinekern.SDROGDClassifier(sketch="raw", sketch_size=size)
    found = []
    for start, stop in zip([0, *marks], marks, strict=False):
        model.partial_fit(X[start:stop], y[start:stop], classes=[0, 1])
        lost = X[:stop].T @ X[:stop] - model.sketch_.T @ model.sketch_
        bound = sketch_bound(model)
        found.append((np.linalg.eigvalsh(lost)[-1], bound.bound, bound.removed))
    true, bound, removed = found[-1]
    print(f"| SDROGD, sketch of {size} | eigenvalue | | | {true:.0f} | {bound:.0f} | always |")
    print(f"\nThe sketch itself removed {removed:.0f}.")
    return np.array(found).T


def draw(found, marks, path):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(11, 5), layout="constrained", sharex=True)
    for axis, (name, (lost, may, best)) in zip(axes.flat, found.items(), strict=True):
        is_sketch = name == "SDROGD"
        axis.plot(marks, may / marks, color="tab:red", label="bound")
        axis.plot(
            marks, lost / marks, color="tab:blue", label="X'X - C'C" if is_sketch else "learner"
        )
        label = "removed by the sketch" if is_sketch else "comparator"
        axis.plot(marks, best / marks, color="tab:green", ls="--", label=label)
        kind = "sketch" if is_sketch else "mistakes" if name in list(LEARNERS)[4:] else "loss"
        axis.set(title=f"{name}: {kind}", xscale="log", ylim=(0, None if is_sketch else 1.5))
        if not is_sketch:
            axis.axhline(1, color="0.6", lw=1, ls=":", label="always 0")
    for axis in axes[1]:
        axis.set_xlabel("samples")
    for axis in axes[:, 0]:
        axis.set_ylabel("per sample")
    axes[0, 0].legend(fontsize="small")
    axes[1, 3].legend(fontsize="small")
    figure.savefig(path, dpi=100)


def main():
    options = read_options(__doc__, rows=10_000, runs=5, plot=None)
    marks = np.unique(np.geomspace(50, options.rows, 25).astype(int))
    X, y = stream(options.rows)
    print("| learner | quantity | U | comparator | learner | bound | holds |")
    print("|---|---|---|---|---|---|---|")
    found = {name: measure(name, X, y, marks, options.runs) for name in LEARNERS}
    found["SDROGD"] = measure_sketch(marks)
    if options.plot:
        draw(found, marks, options.plot)


if __name__ == "__main__":
    main()
