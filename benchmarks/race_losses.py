"""Print what the race loses to its experts, and to a kernel forest with its defaults.

    python benchmarks/race_losses.py FOLDER [--orders 3] [--only NAME,...]

Rows and units are those of `race_rivals.py`. Prints test errors of the race; of its larger forest
alone; of the best of its other experts; of the combination of all of them that is best in hindsight
(its weights sum to 1 and are fitted to one half of the test rows, for the other half); of a kernel
forest with its defaults; and of the combination in hindsight that has this forest too. Where the
race errs no more than the combination in hindsight, no other vote would help it.
"""

import numpy as np
from command import read_options
from forests import SETS, TARGETS, error_of, load, new

from onlinekern import StreamClassifier, StreamRegressor

ROWS = 20_000
HEADS = (
    "set", "race", "its forest", "best other", "in hindsight", "forest, defaults",
    "hindsight with it",
)  # fmt: skip


def opinions_of(race, Z):
    """Return what each expert answers to rows, (n_experts, n_rows, n_outputs)."""
    n, n_outputs = len(race.experts), race.head.n_outputs
    scores = np.zeros((n, len(Z), n_outputs))
    scaled, of_forests = race.seen(Z)
    for k, raw in enumerate(race.raw):
        race.score_expert(k, of_forests if raw else scaled, scores[k])
    return np.array([answer_of(race.vote, scores, k) for k in range(n)])


def answer_of(vote, scores, k):
    """Return the answers of a vote in which expert k alone votes."""
    answers = np.empty(scores.shape[1:])
    vote.combine(scores, np.arange(len(scores), dtype=np.uint8) == k, answers)
    return answers


def in_hindsight(opinions, wanted):
    """Return answers of the best combination, its weights fitted to the other half of the rows."""
    answers = np.empty_like(opinions[0])
    halves = np.arange(len(wanted)) % 2 == 0
    for fitted in (halves, ~halves):
        errors = (opinions - wanted)[:, fitted].reshape(len(opinions), -1)
        products = errors @ errors.T
        products += 1e-3 * np.diag(products).min() * np.eye(len(products))
        weights = np.linalg.solve(products, np.ones(len(products)))
        answers[~fitted] = np.tensordot(weights / weights.sum(), opinions[:, ~fitted], 1)
    return answers


def measured(folder, name, order):
    """Return the errors on a set, in the order of `HEADS`."""
    X, y, Z, v = load(folder, name, ROWS, order)
    number = name in TARGETS
    labels = None if number else np.unique(y)
    model = (StreamRegressor if number else StreamClassifier)(random_state=order)
    model.partial_fit(X, y, **({} if number else {"classes": labels}))
    race = model._model

    def told(answers):
        if number:
            return error_of(answers[:, 0], v, y, number)
        picked = answers[:, 0] > 0 if answers.shape[1] == 1 else answers.argmax(axis=1)
        return error_of(labels[picked.astype(int)], v, y, number)

    opinions = opinions_of(race, Z)
    n_outputs = opinions.shape[2]
    places = v if number else np.searchsorted(labels, v)
    wanted = np.eye(n_outputs)[places] if n_outputs > 1 else v[:, None]
    if not number and n_outputs == 1:
        wanted = 2.0 * places[:, None] - 1
    alone = [told(own) for own in opinions]
    # The larger forest stands before the one of the last samples.
    larger = race.raw.index(True)
    forest = new(name, shuffle=False, random_state=order).fit(X, y)
    own = np.empty_like(opinions[0])
    forest._model.scores(Z, own)
    if not number:
        own = answer_of(race.vote, np.broadcast_to(own, opinions.shape).copy(), larger)
    further = np.concatenate([opinions, own[None]])
    return [
        error_of(model.predict(Z), v, y, number),
        alone[larger],
        min(alone[:larger] + alone[larger + 1 :]),
        told(in_hindsight(opinions, wanted)),
        error_of(forest.predict(Z), v, y, number),
        told(in_hindsight(further, wanted)),
    ]


def main():
    arguments = read_options(__doc__, "folder", orders=3, only=tuple(SETS))
    print("| " + " | ".join(HEADS) + " |\n|" + "---|" * len(HEADS))
    for name in arguments.only:
        runs = [measured(arguments.folder, name, order) for order in range(arguments.orders)]
        digits = 3 if name in TARGETS else 2
        cells = [f"{error:.{digits}f}" for error in np.mean(runs, axis=0)]
        print("| " + " | ".join([name, *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
