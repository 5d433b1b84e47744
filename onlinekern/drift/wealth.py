"""Wealth won by bets on fair payoffs: the statistic of Shiryaev and Roberts, for several stakes."""

from collections.abc import Iterable, Sequence

from onlinekern.core.learning.rank_bets import STAKES

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
