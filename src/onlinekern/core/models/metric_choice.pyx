"""MetricChoice: chooses the form of the metric, and the width of its kernel, by held-out errors.

The forms are: the identity; a diagonal metric, with the power p or 2 p of the gradients; and a full
metric with the power p. Each form is computed from the gradients of the previous renewal. A small
least squares model in it learns the first half of the last samples, and is tested on the second
half, which those gradients have not seen. The form with the lowest error is chosen.
"""
import numpy as np
from scipy.linalg.lapack import dposv

from onlinekern.core.base.state cimport doubles_of_shape, integer_within, positive_number
from onlinekern.core.base.plan cimport Plan

from onlinekern.core.base.plan import UNIT, by_rows, once
from onlinekern.core.features.metric import root_of
from onlinekern.core.models.renewed_maps import LandmarkSearch

# Of each form: whether the metric is full, and the factor of the power p.
FORMS = ((False, 0.0), (False, 1.0), (False, 2.0), (True, 1.0))
# The form at first. It is not the identity: if most features are noise, even a metric that is
# hardly better than none leads to a better next one (puma32H: errors of .25 instead of .86).
FIRST_FORM = 1
# Full metrics are tried with up to this many features.
MOST_TRIED = 256
# Landmarks of the small model, and samples of each half. Twice and four times as many choose no
# better (benchmarks/metrics.py).
LANDMARKS, HALF = 100, 1024
# A choice replaces the present one if its error is lower by this share.
LEAST_GAIN = 0.02
# Factors of the width that are tried, and the bounds of the width.
STEPS = (0.5, 2.0)
NARROWEST, WIDEST = 64.0, 1 / 64.0
# Rows of a unit of work. Costs in nanoseconds, roughly: a unit that calls array functions; one that
# makes a map; a multiplication; a kernel value.
cdef Py_ssize_t ROWS = 64
cdef double ARRAYS = 1e4
cdef double HEAVY = 2e5
cdef double PRODUCT = 0.05
cdef double VALUE = 3


def holds_matrix(d):
    """Whether full metrics are tried with d features."""
    return d <= MOST_TRIED


cdef class MetricChoice:
    """The form in use, the width, and the gradients of the last renewal. Immutable.

    Parameters
    ----------
    d : int
        Features.
    exponent : float > 0
        p.
    form : int
        Index into `FORMS`.
    width : float > 0
        Factor of the metric, whose trace is d without it.
    gradients : ndarray of shape (d, d), or (d,) if no full metric is tried
        Mean outer product of the gradients, or its diagonal; 0 before the first renewal.
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
        """The forms that are tried with d features."""
        return FORMS if holds_matrix(self.d) else FORMS[:-1]

    def state(self):
        """Form, width and gradients, which learning changes."""
        return self.form, self.width, self.gradients

    def with_gradients(self, gradients):
        """The same form and width with the gradients of another renewal."""
        return self.changed(self.form, self.width, gradients)

    def changed(self, form, width, gradients=None):
        """A choice with another form and width, and other gradients if they are given."""
        return MetricChoice(self.d, self.exponent, form, width,
                            self.gradients if gradients is None else gradients)

    def root(self, gradients):
        """M^(1/2) from gradients, of shape (d, d) or (d,); None if they are 0 or not finite."""
        full, power = self.forms()[self.form]
        if gradients.ndim == 2 and not full:
            gradients = np.diagonal(gradients).copy()
        found = root_of(gradients, power * self.exponent)
        return None if found is None else np.sqrt(self.width) * found

    def looked(self, map, X, targets, regs, classes, draws, bint widths=True):
        """Choose by errors: first the form, then, if `widths`, the width. Returns a MetricChoice.

        Parameters
        ----------
        map : FeatureMap
            The map of the model.
        X, targets : ndarrays of shapes (n, d) and (n, n_outputs)
            The last samples, oldest first.
        regs : sequence of float
            Prior precisions that are tried; the lowest error counts.
        classes : bool
            Whether the targets are 1 and -1: scores are clipped to [-1, 1].
        draws : numpy.random.RandomState
        """
        look = ChoiceLook(self, map, len(X), regs, classes, widths)
        look.begin(X, targets, draws)
        Plan(look.stages()).finish()
        return look.found


class ChoiceLook:
    """Does `MetricChoice.looked` in small steps: call `begin`, then do all units of `stages`.

    Parameters
    ----------
    choice, map, regs, classes, widths
        See `MetricChoice.looked`.
    n : int
        Samples.

    Attributes
    ----------
    found : MetricChoice
        The choice, once all units are done.
    """

    def __init__(self, choice, map, Py_ssize_t n, regs, classes, bint widths=True):
        self.found, self.map, self.regs, self.classes = choice, map, regs, classes
        self.half = min(n // 2, HALF) if choice.gradients.any() else 0
        self.rounds = [[choice.changed(form, choice.width) for form in range(len(choice.forms()))]]
        if widths:
            self.rounds.append([])
        self.search = self.trial = self.X = self.targets = self.places = None

    def stages(self):
        """The stages of the plan (`base.plan`); empty if there are no gradients yet."""
        cdef double row, equations
        d, found = self.map.d, []
        equations = LANDMARKS + d + 1
        row = LANDMARKS * (LANDMARKS * PRODUCT + d * PRODUCT + VALUE)
        for place in range(len(self.rounds) if self.half > 0 else 0):
            found += once(UNIT, self.enter)
            for _ in range(1 + len(STEPS) if place else len(FORMS)):
                found += [
                    *once(HEAVY + 10 * d ** 3 * PRODUCT, self.move), *once(HEAVY, self.span),
                    *once(HEAVY, self.settle),
                    by_rows(self.learn, self.half, ROWS, row + equations ** 2 * PRODUCT, ARRAYS),
                    by_rows(self.see, self.half, ROWS, row, ARRAYS),
                    (self.judge, len(self.regs), 5 * ARRAYS + equations ** 3 * PRODUCT / 3)]
            found += once(UNIT, self.leave)
        return found

    def begin(self, X, targets, draws):
        """Set the samples, and draw the candidates for landmarks."""
        if self.half > 0:
            self.X, self.targets = X[len(X) - 2 * self.half:], targets[len(X) - 2 * self.half:]
            self.places = np.sort(draws.permutation(self.half)[:LANDMARKS])

    def enter(self, _):
        """List the choices of the next round: all forms, then some widths."""
        self.choices, self.errors = self.rounds.pop(0), []
        if not self.choices:
            widths = [self.found.width, *(self.found.width * step for step in STEPS)]
            self.choices = [self.found.changed(self.found.form, width) for width in widths
                            if WIDEST <= width <= NARROWEST]
            self.present = 0
        else:
            self.present = self.found.form

    def move(self, _):
        """Begin to test the next choice; its landmarks are rows of the first half."""
        place = len(self.errors)
        self.search = self.trial = None
        if place < len(self.choices):
            self.errors.append(np.inf)
            choice = self.choices[place]
            root = choice.root(choice.gradients)
            if root is not None:
                self.search = LandmarkSearch(self.map, root, LANDMARKS)
                self.search.begin(self.X[self.places])

    def span(self, _):
        """Compute the kernel matrix of the candidates, and orthogonalise them."""
        if self.search is not None:
            self.search.stand(None)
            self.search.compare(slice(0, LANDMARKS))
            self.search.factor(slice(0, LANDMARKS))

    def settle(self, _):
        """Make the small model."""
        if self.search is not None:
            self.search.settle(None)
            self.search.consider(slice(0, LANDMARKS))
            self.trial = Trial(self.search.map(), self.X, self.targets, self.classes)
            self.search = None

    def learn(self, rows):
        """Let the small model learn some rows of the first half."""
        if self.trial is not None:
            self.trial.learn(rows)

    def see(self, rows):
        """Compute the features of some rows of the second half."""
        if self.trial is not None:
            self.trial.see(rows)

    def judge(self, k):
        """Find the errors with a prior precision; the least one counts."""
        if self.trial is not None:
            self.errors.append(min(self.errors.pop(), self.trial.error(self.regs[k])))

    def leave(self, _):
        """Take the choice with the lowest error, if it is clearly below that of the present one."""
        best = int(np.argmin(self.errors))
        if self.errors[best] < (1 - LEAST_GAIN) * self.errors[self.present]:
            self.found = self.choices[best]


class Trial:
    """A small least squares model that is fitted to the first half of the rows.

    Parameters
    ----------
    map : FeatureMap
    X, targets : ndarrays of shapes (2 half, d) and (2 half, n_outputs)
    classes : bool
    """

    def __init__(self, map, X, targets, classes):
        half, n = len(X) // 2, map.n_features
        self.map, self.X, self.targets, self.classes = map, X, targets, classes
        self.A, self.b = np.zeros((n, n)), np.zeros((n, targets.shape[1]))
        self.later = np.empty((half, n))

    def learn(self, rows):
        """Learn some rows of the first half."""
        with np.errstate(all="ignore"):
            features = self.map.transform(self.X[rows]).astype(np.float64)
            self.A += features.T @ features
            self.b += features.T @ self.targets[rows]

    def see(self, rows):
        """Compute the features of some rows of the second half."""
        half = len(self.later)
        self.later[rows] = self.map.transform(self.X[half + rows.start:half + rows.stop])

    def error(self, reg):
        """Mean squared error on the second half, relative to the mean square of each output.

        It is infinite if the features are not finite.
        """
        targets = self.targets[len(self.later):]
        with np.errstate(all="ignore"):
            unit = np.square(targets).mean(axis=0)
            unit[unit == 0] = 1
            _, weights, fault = dposv(self.A + reg * np.eye(len(self.A)), self.b)
            if fault != 0:
                return np.inf
            scores = self.later @ weights
            if self.classes:
                scores = np.clip(scores, -1, 1)
            error = (np.square(scores - targets).mean(axis=0) / unit).mean()
        return error if np.isfinite(error) else np.inf
