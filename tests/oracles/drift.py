"""Detectors of change from their definitions: every player, every pair and every rank by itself."""

import numpy as np

STAKES = (0.03, 0.06, 0.125, 0.25, 0.5, 0.9)
MASK = 2**64 - 1


def uniform(seed, number):
    """Return a random number of (0, 1), which SplitMix64 makes of the number of a loss."""
    z = (seed + number * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return (((z ^ (z >> 31)) >> 11) + 0.5) * 2.0**-53


def wealth(payoffs):
    """Return the mean wealth after each bet.

    The player who joined at bet j has the product of ``1 + s f`` since then; R is their sum.

    Parameters
    ----------
    payoffs : ndarray of shape (n_bets, n_kinds)
    """
    values = []
    for t in range(len(payoffs)):
        players = [
            np.prod(1 + stake * payoffs[j : t + 1, kind])
            for kind in range(payoffs.shape[1])
            for stake in STAKES
            for j in range(t + 1)
        ]
        values.append(sum(players) / (payoffs.shape[1] * len(STAKES)))
    return np.array(values)


def pairs(X, n_reference):
    """Return (number of the sample, reference row, new row) of each bet, from 1."""
    first = X[:100]
    deviation = first.std(axis=0)
    Z = np.clip((X - first.mean(axis=0)) / np.where(deviation > 0, deviation, 1), -10, 10)
    waiting, found = [], []
    for number, row in enumerate(Z[100:], 101):
        if len(waiting) < n_reference:
            waiting.append(row)
        else:
            found.append((number, waiting.pop(0), row))
    return found


def witness_payoffs(differences, forgetting, block):
    """Return the payoffs of a witness that learns blocks of pairs."""
    direction, square, payoffs = np.zeros(len(differences[0])), 0.0, []
    for start in range(0, len(differences), block):
        part = differences[start : start + block]
        values = [direction @ difference for difference in part]
        scale = 3 * square**0.5
        payoffs += [np.clip(g / scale, -1, 1) if scale else 0.0 for g in values]
        new = np.mean(np.square(values))
        kept = forgetting**block
        square = kept * square + (1 - kept) * new if square else new
        for difference in part:
            direction = forgetting * direction + (1 - forgetting) * difference
    return payoffs


def mmd_payoffs(bets, frequencies, forgetting, block=8):
    """Return the payoffs of both witnesses: of Fourier features, and of the features themselves."""

    def fourier(row):
        angles = frequencies @ row
        return np.concatenate([np.cos(angles), np.sin(angles)]) / len(frequencies) ** 0.5

    def plain(row):
        return np.concatenate([row, abs(row)])

    kinds = [
        witness_payoffs([z(x) - z(r) for _, r, x in bets], forgetting, block)
        for z in (fourier, plain)
    ]
    return np.array(kinds).T


def loss_payoffs(losses, draws):
    """Return both payoffs of each loss by its rank; `draws` decide about equal losses."""
    found = []
    for t, draw in enumerate(draws):
        so_far = losses[: t + 1]
        p = (np.sum(so_far > so_far[t]) + draw * np.sum(so_far == so_far[t])) / (t + 1)
        found.append((1 - 2 * p, 0.5 / p**0.5 - 1))
    return np.array(found)
