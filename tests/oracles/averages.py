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
        self.lead = 0
        self.leads = False

    def compare(self, head, last, averaged, y):
        """Note who meets y better, the last model or the average; their scores are given.

        An error of less than half of the other's counts for the last model, and a larger one ends
        its lead. Call before `add`.
        """
        one, other = head.error(last, y), head.error(averaged, y)
        self.leads = 2 * one < other
        if self.leads:
            self.lead += 1
        elif one > other:
            self.lead = 0

    def counted(self, model):
        """Return the average with this model when it is counted: one that leads catches up."""
        if self.kind != "decay" or not self.leads or self.n < 5:
            return self.including(model)
        p = min(0.5, share(self.kind, self.n + 1) * 1.5**self.lead)
        return (1 - p) * self.mean + p * model

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
        self.mean = self.counted(model)
        self.sum = self.sum + model
        self.n += 1

    def forget(self, column):
        """Take a support vector out of all models."""
        self.sum[:, column] = 0.0
        self.mean[:, column] = 0.0
