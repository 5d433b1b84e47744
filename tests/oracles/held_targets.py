"""Targets that are outliers, held near the answers; written from `core.learning.held_targets`.

.. [1] P. Huber, "Robust estimation of a location parameter", Annals of Math. Statistics 35, 1964.
"""

import numpy as np


class HeldTargets:
    """Means of the last samples, and how far targets that are far agree with the answers."""

    def __init__(self):
        self.n = self.error = self.spread = self.agreement = self.chance = 0.0

    def hold(self, y, score, offset, unit):
        """Return what is learnt in the place of y, after the answer `score` [1]_."""
        f = offset + unit * score
        goal, limit, near, held = (y - offset) / unit, 10 * self.error, abs(y - f), y
        if self.n >= 50 and near > limit and abs(goal) > 5:
            near = limit
            explained = self.error < 0.6 * self.spread
            foreseen = self.agreement > 2 * np.sqrt(self.chance)
            if explained and not foreseen:
                held = f + np.sign(y - f) * limit
            self.agreement = 0.99 * self.agreement + score * np.sign(goal)
            self.chance = 0.99**2 * self.chance + score**2
        self.n = min(self.n + 1, 200)
        self.error += (near - self.error) / self.n
        self.spread += (abs(f + np.sign(y - f) * near - offset) - self.spread) / self.n
        return held

    def numbers(self):
        return [self.n, self.error, self.spread, self.agreement, self.chance]
