"""Errors against the share of the labels that are asked for, beside asking by chance.

    nice python benchmarks/asking.py DIR [--rows N] [--seeds N] [--only LEARNER]

DIR holds streams as NAME.libsvm.xz. Five streams in their order, features standardised as they
come, learnt by what a `LabelQuery` asks for; errors are those of all samples, each predicted before
it may be learnt, the mean over seeds, with the shares that were asked for. The last table has, for
each learner, the mean over streams of the error as a share of that of asking by
chance with the same budget.
"""

import numpy as np
import streams_leaderboard as leaderboard
from command import read_options
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from onlinekern import AROWClassifier, KernelRLSClassifier, PAClassifier, StreamClassifier
from onlinekern.evaluate import LabelQuery, prequential

STREAMS = ("Elec2", "weather", "covtype", "RBF drift", "Agrawal")
BUDGETS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
CHANCE = "by chance"
# What the table calls it: parameters.
QUERIES = {
    CHANCE: {"strategy": "random"},
    "margin": {},
    "leverage": {"certainty": "leverage"},
    "margin, explore=0": {"explore": 0.0},
    "variable": {"strategy": "variable", "explore": 0.0},
    "variable, split": {"strategy": "variable"},
    "randomized": {"strategy": "randomized", "explore": 0.0},
    "fixed": {"strategy": "fixed", "explore": 0.0},
}
MODELS = {
    "KernelRLS": KernelRLSClassifier(forgetting=0.998, random_state=0),
    "AROW": AROWClassifier(random_state=0),
    "linear PA": PAClassifier(random_state=0),
    "Stream": StreamClassifier(random_state=0),
}


def errors_of(model, X, y, parameters, seeds):
    """Return the mean error for each budget, and the share asked for."""
    found = []
    for budget in BUDGETS:
        runs = []
        for seed in range(seeds):
            query = LabelQuery(budget=budget, random_state=seed, **parameters)
            run = prequential(clone(model), [(X, y)], np.unique(y), window=None, query=query)
            runs.append((run.error, run.n_asked / run.n_samples))
        found.append(np.mean(runs, axis=0))
    return np.array(found)


def main():
    settings = read_options(__doc__, "folder", rows=5_000, seeds=3, only={"choices": MODELS})
    head = " | ".join(f"{budget:.0%}" for budget in BUDGETS)
    ratios = {}
    for name, model in MODELS.items():
        if settings.only not in (None, name):
            continue
        print(f"\n{name}, errors in %\n\n| stream | asked | {head} | all |")
        print(f"|---|---|{'---:|' * (len(BUDGETS) + 1)}")
        for stream in STREAMS:
            X, y = leaderboard.load(settings.folder, stream, settings.rows)
            X = leaderboard.running_standard(X)
            whole = prequential(clone(model), [(X, y)], np.unique(y), window=None).error
            by_chance = None
            for label, parameters in QUERIES.items():
                if "leverage" in label and not hasattr(model, "leverage"):
                    continue
                found = errors_of(model, X, y, parameters, settings.seeds)
                by_chance = found if by_chance is None else by_chance
                ratios.setdefault((name, label), []).append(found[:, 0] / by_chance[:, 0])
                cells = [f"{100 * error:.1f}" for error in found[:, 0]]
                shares = ", ".join(f"{share:.1%}" for share in found[:, 1])
                print(f"| {stream} | {label} | {' | '.join(cells)} | {100 * whole:.1f} | {shares}")
    print(f"\n| learner | asked | {head} |\n|---|---|{'---:|' * len(BUDGETS)}")
    for (name, label), each in ratios.items():
        cells = [f"{value:.2f}" for value in np.exp(np.mean(np.log(each), axis=0))]
        print(f"| {name} | {label} | {' | '.join(cells)} |")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
