"""Errors and kappas of predictions, sample by sample, from their definitions."""

import math
from collections import Counter


def baselines(y, classes):
    """Return what no change and the majority (the mean) predict for each sample."""
    last, mostly = [], []
    for t in range(len(y)):
        past = list(y[:t])
        if classes is None:
            last.append(past[-1] if past else 0.0)
            mostly.append(math.fsum(past) / len(past) if past else 0.0)
        else:
            counts = Counter(past)
            last.append(past[-1] if past else classes[0])
            mostly.append(max(classes, key=lambda c: counts[c]))  # the first of several
    return last, mostly


def figures(y, predicted, weights, classes):
    """Return errors and kappas of samples with weights; `y` and all predictions from the start."""
    last, mostly = baselines(y, classes)
    total = math.fsum(weights)

    def mean(values):
        return math.fsum(w * v for w, v in zip(weights, values, strict=True)) / total

    def error(guesses):
        if classes is None:
            return math.sqrt(mean([(a - b) ** 2 for a, b in zip(y, guesses, strict=True)]))
        return mean([a != b for a, b in zip(y, guesses, strict=True)])

    found = {
        "error": error(predicted),
        "no_change_error": error(last),
        "majority_error": error(mostly),
    }
    if classes is not None:
        chance = math.fsum(mean([a == c for a in y]) * mean([b == c for b in predicted])
                           for c in classes)  # fmt: skip
        accuracy = 1 - found["error"]
        found["kappa"] = (accuracy - chance) / (1 - chance)
        for name, reference in (("temporal", "no_change"), ("m", "majority")):
            rival = 1 - found[f"{reference}_error"]
            found[f"kappa_{name}"] = (accuracy - rival) / (1 - rival)
    return found
