"""Streams that change, sample by sample: the labels' rules, and the paths of what moves."""

import math
import random

import numpy as np


def between(values, low, high):
    return (low <= values) & (values <= high)


def sea(X, concept):
    """Return the labels without noise."""
    return (X[:, 0] + X[:, 1] > [8, 9, 7, 9.5][concept]).astype(int)


def sine(X, concept):
    curve = np.sin(X[:, 1]) if concept in (0, 1) else 0.5 + 0.3 * np.sin(3 * np.pi * X[:, 1])
    return ((X[:, 0] < curve) ^ (concept in (1, 3))).astype(int)


def mixed(X, concept):
    z = X[:, 3] < 0.5 + 0.3 * np.sin(3 * np.pi * X[:, 2])
    v, w = X[:, 0] == 1, X[:, 1] == 1
    zero = (v & w) | (v & z) | (w & z)
    return (zero if concept == 1 else ~zero).astype(int)


def stagger(X, concept):
    size, colour, shape = X.T
    small, red, green, circle = size == 0, colour == 0, colour == 2, shape == 0
    return [small & red, green | circle, ~small][concept].astype(int)


def agrawal(X, concept):
    """Return the labels by functions 1 to 10; the fifth with river's conditions."""
    salary, commission, age, level, _, _, house, years, loan = X.T
    thousand = 1000
    ages = (age < 40, (age >= 40) & (age < 60), age >= 60)

    def by_age(*conditions):
        return sum(a & condition for a, condition in zip(ages, conditions, strict=True)) > 0

    def bands(values):
        pairs = ((50, 100), (75, 125), (25, 75))
        return [between(values, low * thousand, high * thousand) for low, high in pairs]

    first, second, third = bands(salary)
    low_level, middle_level, high_level = level <= 1, between(level, 1, 3), level >= 2
    total = 2 * (salary + commission) / 3
    equity = np.where(years >= 20, house * (years - 20) / 10, 0)
    return [
        lambda: ages[0] | ages[2],
        lambda: by_age(*bands(salary)),
        lambda: by_age(low_level, middle_level, high_level),
        lambda: by_age(
            np.where(low_level, third, first),
            np.where(middle_level, first, second),
            np.where(high_level, first, third),
        ),
        lambda: by_age(
            np.where(first, between(loan, 1e5, 3e5), between(salary, 2e5, 4e5)),
            np.where(second, (salary >= 2e5) & (loan <= 4e5), between(salary, 3e5, 5e5)),
            np.where(third, between(loan, 3e5, 5e5), between(loan, 0.75e5, 3e5)),
        ),
        lambda: by_age(*bands(salary + commission)),
        lambda: total - loan / 5 - 20 * thousand <= 1,
        lambda: total - 5000 * level - 20 * thousand <= 1,
        lambda: total - 5000 * level - loan / 5 - 10 * thousand <= 1,
        lambda: total - 5000 * level + equity / 5 - 10 * thousand <= 1,
    ][concept]().astype(int)


def hyperplane(n, d, n_drift, speed, noise, turn, seed):
    """Return rows and labels, one sample at a time."""
    rng = random.Random(seed)
    weights, signs = [rng.random() for _ in range(d)], [1] * n_drift
    X, y = [], []
    for _ in range(n):
        x = [rng.random() for _ in range(d)]
        value = math.fsum(w * xi for w, xi in zip(weights, x, strict=True))
        label = value >= math.fsum(weights) / 2
        if 0.01 + rng.random() <= noise:
            label = not label
        for i in range(n_drift):
            weights[i] += signs[i] * speed
            if 0.01 + rng.random() <= turn:
                signs[i] *= -1
        X.append(x)
        y.append(int(label))
    return np.array(X), np.array(y)


def random_rbf(n, n_classes, d, n_centroids, speed, n_drift, seed, model_seed):
    """Return rows and labels, one sample at a time."""
    model = random.Random(model_seed)
    clusters = []
    for _ in range(n_centroids):
        centre = [model.random() for _ in range(d)]
        clusters.append((centre, model.randint(0, n_classes - 1), model.random(), model.random()))
    model, directions = random.Random(model_seed), []
    for _ in range(n_drift):
        v = [model.random() for _ in range(d)]
        directions.append([vi / math.sqrt(sum(vj**2 for vj in v)) for vi in v])
    rng, X, y = random.Random(seed), [], []
    for _ in range(n):
        for (centre, *_), v in zip(clusters, directions, strict=False):
            for j in range(d):
                centre[j] += speed * v[j]
                if not 0 <= centre[j] <= 1:
                    centre[j], v[j] = min(max(centre[j], 0), 1), -v[j]
        left = rng.random() * sum(weight for *_, weight in clusters)
        for centre, label, width, weight in clusters:  # noqa: B007
            left -= weight
            if left < 0:
                break
        direction = [2 * rng.random() - 1 for _ in range(d)]
        length = math.sqrt(sum(v**2 for v in direction))
        distance = rng.gauss(0, 1) * width
        X.append([c + distance * v / length for c, v in zip(centre, direction, strict=True)])
        y.append(label)
    return np.array(X), np.array(y)


def joined(rows_before, rows_after, n, position, width, seed):
    """Return rows of two streams, chosen one by one by the sigmoid of river and MOA."""
    rng, before, after, X = random.Random(seed), iter(rows_before), iter(rows_after), []
    for t in range(1, n + 1):
        late = rng.random() <= 1 / (1 + math.exp(-4 * (t - position) / width))
        X.append(next(after if late else before))
    return np.array(X)
