"""Running moments, written from their definition: all samples are kept, all sums made anew."""

import numpy as np


class Scaler:
    """Means and mean squares of weighted samples, and the samples that they scale."""

    def __init__(self, centred=True, clip=10.0, forgetting=1.0, with_std=True):
        self.centred, self.clip, self.forgetting = centred, clip, forgetting
        self.with_std = with_std
        self.rows, self.weights = [], []

    def learn(self, x, weight=1.0):
        if weight > 0:
            self.weights = [self.forgetting * a for a in self.weights] + [weight]
            self.rows.append(np.asarray(x, dtype=float))

    def mean(self):
        rows = np.array(self.rows)
        return np.average(rows, axis=0, weights=self.weights) if self.centred else 0 * rows[0]

    def variance(self):
        return np.average((np.array(self.rows) - self.mean()) ** 2, axis=0, weights=self.weights)

    def scale(self):
        variance = self.variance()
        # The sums of the twin lose more digits than the recursion: its threshold is higher.
        constant = variance <= (100 * np.finfo(float).eps * self.mean()) ** 2
        return np.sqrt(np.where(constant, 1.0, variance)) if self.with_std else 1 + 0 * variance

    def transform(self, x):
        if not self.rows:
            return 0 * np.asarray(x, dtype=float)
        z = (np.asarray(x, dtype=float) - self.mean()) / self.scale()
        return np.clip(z, -self.clip, self.clip) if self.clip and self.with_std else z

    def learn_transform(self, X, weights=None):
        """Return each row, scaled by what is known of it and those before."""
        out = []
        for i, x in enumerate(X):
            self.learn(x, 1.0 if weights is None else weights[i])
            out.append(self.transform(x))
        return np.array(out)
