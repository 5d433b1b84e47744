"""MetricChoice: which form of metric a stream needs, and how wide its kernel should be.

The forms are: all features alike, a diagonal metric of the power p or 2 p of the gradients, and a
full one of the power p. Each is tried as it would have been found by the gradients of the renewal
before: a small least squares model in it learns the first half of the last samples, and its errors
at the other half, which those gradients have not seen, decide.
"""
import numpy as np
from scipy.linalg import LinAlgError, solve

from onlinekern.core.base.state cimport doubles_of_shape, integer_within, positive_number
from onlinekern.core.features.map cimport FeatureMap

from onlinekern.core.features.metric import root_of
from onlinekern.core.models.renewed_maps import with_landmarks

# Whether the metric is full, and the factor of its power.
FORMS = ((False, 0.0), (False, 1.0), (False, 2.0), (True, 1.0))
# The form in use at first. Where most features are noise, a metric that is hardly better than none
# is what the next one is found by (puma32H: errors of .25 instead of .86).
FIRST_FORM = 1
# Full metrics of more features are not tried.
MOST_TRIED = 256
# Landmarks of the small model, and samples of each half. Twice and four times as many choose no
# better (benchmarks/metrics.py).
LANDMARKS, HALF = 100, 1024
# What is chosen instead of the present choice has errors that are lower by this share.
LEAST_GAIN = 0.02
# Factors of the width that are tried, and the bounds of their product.
STEPS = (0.5, 2.0)
NARROWEST, WIDEST = 64.0, 1 / 64.0


def holds_matrix(d):
    """Whether the choice among metrics of d features has full ones."""
    return d <= MOST_TRIED


cdef class MetricChoice:
    """The form in use, the width, and the gradients of the last renewal. It does not change.

    Parameters
    ----------
    d : int
        Features.
    exponent : float > 0
        p.
    form : int
        Place in `FORMS`.
    width : float > 0
        Factor of the metric whose trace is d.
    gradients : ndarray of shape (d, d), or (d,) of so many features that no full metric is tried
        Their mean outer product, or its diagonal; 0 before the first renewal.
    """

    def __cinit__(self, Py_ssize_t d, double exponent, form=FIRST_FORM, width=1.0, gradients=None):
        shape = (d,) * (2 if holds_matrix(d) else 1)
        self.d, self.exponent = d, positive_number("exponent", exponent)
        self.form = integer_within("form", form, 0, len(self.forms()) - 1)
        self.width = positive_number("width", width)
        if not WIDEST <= self.width <= NARROWEST:
            raise ValueError(f"width must be from {WIDEST:g} to {NARROWEST:g}, got {width}")
        given = np.zeros(shape) if gradients is None else gradients
        self.gradients = doubles_of_shape("gradients", given, shape)

    def forms(self):
        """The forms that are tried."""
        return FORMS if holds_matrix(self.d) else FORMS[:-1]

    def state(self):
        """What changes: form, width and gradients."""
        return self.form, self.width, self.gradients

    def with_gradients(self, gradients):
        """The same choice after a renewal."""
        return self.changed(self.form, self.width, gradients)

    def changed(self, form, width, gradients=None):
        """Another choice; with the same gradients if there are no others."""
        return MetricChoice(self.d, self.exponent, form, width,
                            self.gradients if gradients is None else gradients)

    def root(self, gradients):
        """M^(1/2) from gradients, of shape (d, d) or (d,); None where they tell nothing."""
        full, power = self.forms()[self.form]
        if gradients.ndim == 2 and not full:
            gradients = np.diagonal(gradients).copy()
        found = root_of(gradients, power * self.exponent)
        return None if found is None else np.sqrt(self.width) * found

    def looked(self, map, X, targets, regs, classes, draws, bint widths=True):
        """The choice by errors: first the form, then, if `widths` are tried, the width.

        Parameters
        ----------
        map : FeatureMap
            The model's.
        X, targets : ndarrays of shapes (n, d) and (n, n_outputs)
            The last samples, in their order.
        regs : sequence of float
            Prior precisions; the best one counts.
        classes : bool
            Whether the targets are 1 and -1: scores beyond them are no errors.
        draws : numpy.random.RandomState
        """
        half = min(len(X) // 2, HALF)
        if half == 0 or not self.gradients.any():
            return self
        X, targets = X[len(X) - 2 * half:], targets[len(X) - 2 * half:]
        places = np.sort(draws.permutation(half)[:LANDMARKS])

        def error(choice):
            root = choice.root(choice.gradients)
            if root is None:
                return np.inf
            return error_of(with_landmarks(map, X[places], root, LANDMARKS), X, targets, regs,
                            classes)

        best = better([self.changed(form, self.width) for form in range(len(self.forms()))],
                      self.form, error)
        if not widths:
            return best
        tried = [best.width, *(best.width * step for step in STEPS)]
        return better([best.changed(best.form, width) for width in tried
                       if WIDEST <= width <= NARROWEST], 0, error)


def better(choices, Py_ssize_t present, error):
    """The choice of the least error; the present one if no other is clearly better."""
    errors = [error(choice) for choice in choices]
    best = int(np.argmin(errors))
    return choices[best if errors[best] < (1 - LEAST_GAIN) * errors[present] else present]


def error_of(FeatureMap map, X, targets, regs, classes):
    """The least mean squared error at the second half of rows, after the first half.

    Errors of each output are in units of its mean square. The error is infinite where the features
    are not finite.
    """
    cdef Py_ssize_t half = len(X) // 2
    with np.errstate(all="ignore"):
        features = map.transform(X).astype(np.float64)
        A, b = features[:half].T @ features[:half], features[:half].T @ targets[:half]
        unit = np.square(targets[half:]).mean(axis=0)
        unit[unit == 0] = 1
        found = [np.inf]
        for reg in regs:
            try:
                weights = solve(A + reg * np.eye(len(A)), b, assume_a="pos")
            except (LinAlgError, ValueError):
                continue
            scores = features[half:] @ weights
            if classes:
                scores = np.clip(scores, -1, 1)
            error = (np.square(scores - targets[half:]).mean(axis=0) / unit).mean()
            found.append(error if np.isfinite(error) else np.inf)
    return min(found)
