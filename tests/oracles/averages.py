"""Running averages of models, by the recursion that defines each.

References
----------
O. Shamir, T. Zhang, "Stochastic gradient descent for non-smooth optimization: convergence results
and optimal averaging schemes", ICML 2013, section 4 (polynomial-decay averaging).
"""


def share(kind, n):
    """Return p_n of w-bar <- (1 - p_n) w-bar + p_n w_n for the model of number n, from 1.

    For the kinds that forget; the mean is a sum divided by n.
    """
    if kind == "decay":
        eta = 3
        return (eta + 1) / (n + eta)
    # Forgetting, w-bar <- a w-bar + (1 - a) w_n from 0, divided by the sum 1 - a^n of its weights.
    return (1 - kind) / (1 - kind**n)


class Average:
    """The average of the models so far, arrays of one shape; `kind` False is the last one."""

    def __init__(self, kind):
        self.kind = kind
        self.n = 0
        self.sum = self.mean = 0.0

    def including(self, model):
        """Return the average of the models so far and this one."""
        if self.kind is False:
            return model
        if self.kind in (True, "uniform"):
            return (self.sum + model) / (self.n + 1)
        p = share(self.kind, self.n + 1)
        return (1 - p) * self.mean + p * model

    def add(self, model):
        """Count a model."""
        self.mean = self.including(model)
        self.sum = self.sum + model
        self.n += 1

    def forget(self, column):
        """Take a support vector out of all models."""
        self.sum[:, column] = 0.0
        self.mean[:, column] = 0.0
