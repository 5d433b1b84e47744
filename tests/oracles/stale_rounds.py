"""Rounds that begin before the last ones have ended, one after the other."""

from copy import deepcopy

import numpy as np


def stale_rounds(model, parts, n_learners, n_rounds, staleness, merge):
    """Return the models after each round, the one that is given first.

        M_r = merge(M_{r-1}, what the learners make of M_b; base M_b),  b = max(0, r - 1 - s)

    M_{r-1} is left out if it is M_b. `merge` is the library's.
    """
    models, numbers = [model], np.arange(len(parts))
    for number, stretch in enumerate(np.array_split(numbers, n_rounds), start=1):
        begun = max(0, number - 1 - staleness)
        learnt = []
        for k in range(n_learners):
            if len(stretch[k::n_learners]):
                learnt.append(deepcopy(models[begun]))
            for index in stretch[k::n_learners]:
                learnt[-1].partial_fit(*parts[index])
        if begun < number - 1:
            learnt.insert(0, models[-1])
        merged = merge(learnt, base=models[begun]) if len(learnt) > 1 else learnt[0]
        models.append(merged)
    return models
