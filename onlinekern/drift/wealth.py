"""Wealth won by bets on fair payoffs: the statistic of Shiryaev and Roberts, for several stakes."""

from collections.abc import Iterable, Sequence

# A bet stakes this share of the wealth. Their mean adapts to payoffs of any size: it reaches a
# threshold when the best of them reaches six times it, or before. One stake of 0.5 is a little
# sooner for the payoffs of a witness (`benchmarks/alarms.py --part stakes`).
STAKES = (0.03, 0.06, 0.125, 0.25, 0.5, 0.9)
# Nothing has been won yet by the players who bet on one kind of payoff.
NOTHING = (0.0,) * len(STAKES)

Wealth = tuple[float, ...]


def first_alarm(
    wealth: Wealth, payoffs: Iterable[Sequence[float]], threshold: float
) -> tuple[Wealth, int | None]:
    """Bet on payoffs until an alarm.

    Each stake s on a kind of payoff has the wealth ``R <- (R + 1)(1 + s f)``: a player with a
    capital of 1 joins at every payoff f, and all players put the share s of what they have on it.

    Parameters
    ----------
    wealth : tuple of float
        What the players have, those of the first kind of payoff first.
    payoffs : iterable of sequences of float >= -1
        At each bet one payoff of each kind: its expectation is at most 0 given those before, while
        nothing changes.
    threshold : float

    Returns
    -------
    wealth : tuple of float
    place : int or None
        Number of the bet with which the mean wealth reached the threshold, from 0.
    """
    for place, paid in enumerate(payoffs):
        won: list[float] = []
        for kind, payoff in enumerate(paid):
            own = wealth[kind * len(STAKES) : (kind + 1) * len(STAKES)]
            won += [(r + 1.0) * (1.0 + s * payoff) for r, s in zip(own, STAKES, strict=True)]
        wealth = tuple(won)
        if mean(wealth) >= threshold:
            return wealth, place
    return wealth, None


def mean(wealth: Wealth) -> float:
    """Return the statistic: the mean wealth of all players."""
    return sum(wealth) / len(wealth)
