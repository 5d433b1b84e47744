"""What theorems promise of a learner, computed along its stream."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

from onlinekern.core import LOSSES
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.gradient import loss_of
from onlinekern.estimators.validation import wrong_type
from onlinekern.learners.bogd import BOGDClassifier
from onlinekern.learners.budgeted import ForgetronClassifier, RBPClassifier
from onlinekern.learners.dual_sgd import DualSGDClassifier
from onlinekern.learners.fogd_nogd import FOGDClassifier
from onlinekern.learners.projection import ProjectronClassifier
from onlinekern.learners.sdrogd import SDROGDClassifier
from onlinekern.learners.spa import SPAClassifier

# Their value of a sample with itself is 1, or 0 for a row of zeros.
NORMALISED = ("gaussian", "rbf", "exponential", "laplacian", "cosine")
# Their slopes are at most 1.
LIPSCHITZ = ("hinge", "logistic", "smooth_hinge")
LEAST_FORGETRON = 84
ASSUMES = (
    "all samples have had weight 1",
    "this model has learnt them one after the other: it is not merged from several",
    "no parameter has changed since the first sample",
)
OBLIVIOUS = "the samples do not depend on the random frequencies"


@dataclass(frozen=True)
class Comparator:
    """The fixed hypothesis that a learner is compared with: its norm U and its sum of losses."""

    norm: float
    loss: float
    confidence: float | None


@dataclass(frozen=True)
class RegretBound:
    """What a theorem promises of a model at this point of its stream.

    Attributes
    ----------
    quantity : {'loss', 'mistakes'}
        What is bounded: `cumulative_loss_` of the model, or the number of its steps, which is at
        least `n_mistakes_`.
    learner : float
        That quantity so far (`n_mistakes_` for 'mistakes').
    comparator : float
        Sum of losses of the comparator, as it was given.
    bound : float
        The theorem says ``learner <= bound``.
    n_samples : int
        Samples so far.
    trivial : float
        What always predicting 0 would have cost. A bound above it says nothing.
    guarantee : {'always', 'expectation', 'probability'}
        Whether the bound holds for every run, for the expectation over the learner's own draws, or
        with the probability `confidence`.
    confidence : float or None
        That probability.
    support : float or None
        Bound on the expected number of support vectors (SPA).
    source : str
        Whose idea it is. "after": docs/bounds.md proves it for the learner as it is built here.
    assumes : tuple of str
        Conditions that the model cannot check.
    """

    quantity: Literal["loss", "mistakes"]
    learner: float
    comparator: float
    bound: float
    n_samples: int
    trivial: float
    guarantee: Literal["always", "expectation", "probability"]
    confidence: float | None
    support: float | None
    source: str
    assumes: tuple[str, ...]

    @property
    def regret(self) -> float:
        """What the learner lost minus what the comparator lost."""
        return self.learner - self.comparator

    @property
    def regret_bound(self) -> float:
        """What the theorem allows `regret` to be."""
        return self.bound - self.comparator

    @property
    def is_vacuous(self) -> bool:
        """Whether always predicting 0 would satisfy the bound too."""
        return self.bound >= self.trivial


@dataclass(frozen=True)
class SketchBound:
    """How far a frequent-directions sketch C can be from all rows X that it has seen.

    Attributes
    ----------
    bound : float
        ``||X||_F^2 / (l + 1)``, which the largest eigenvalue of ``X'X - C'C`` never exceeds.
    removed : float
        What the sketch itself has subtracted: the same eigenvalue is at most this, and this is at
        most `bound`.
    regulariser : float
        What `bound` makes of the regulariser R: its matrix is off by at most
        ``gamma_d eta bound / N``, N the sum of the weights of the samples.
    """

    bound: float
    removed: float
    regulariser: float


@dataclass(frozen=True)
class Theorem:
    """A theorem about a learner: what it needs, and what it gives."""

    source: str
    quantity: Literal["loss", "mistakes"]
    guarantee: Literal["always", "expectation", "probability"]
    # What of a model breaks its conditions: each yields clauses.
    conditions: tuple[Callable[[Any], Iterator[str]], ...]
    bound: Callable[[Any, Comparator], float]
    # Above this norm of the comparator it says nothing.
    largest_norm: Callable[[Any], float] = lambda model: math.inf
    # How it treats a confidence: the theorem's guarantee then is a probability.
    confidence: Literal["never", "may", "must"] = "never"


def _broken_by_kernel(model: Any) -> Iterator[str]:
    if not isinstance(model.kernel, str) or model.kernel not in NORMALISED:
        yield f"kernel with kappa(x, x) = 1 ({', '.join(NORMALISED)}), got {model.kernel!r}"


def _broken_by_loss(model: Any) -> Iterator[str]:
    if model.loss not in LIPSCHITZ:
        yield f"loss with slopes of at most 1 ({', '.join(LIPSCHITZ)}), got {model.loss!r}"


def _unlike(**wanted: Any) -> Callable[[Any], Iterator[str]]:
    """Return what yields the parameters that do not have the values that are wanted."""

    def clauses(model: Any) -> Iterator[str]:
        for name, value in wanted.items():
            if getattr(model, name) != value:
                yield f"{name}={value!r}, got {getattr(model, name)!r}"

    return clauses


def _broken_by_classes(model: Any) -> Iterator[str]:
    if len(model.classes_) != 2:
        yield f"two classes, got {len(model.classes_)}"


def _broken_by_width(model: Any) -> Iterator[str]:
    # The cosine kernel has no width.
    if model.kernel != "cosine" and model.gamma in ("median", "best"):
        yield (
            "gamma that is known before the first sample (while it is measured, samples are "
            f"learnt again), got {model.gamma!r}"
        )


# The conditions of every theorem.
ALWAYS = (_broken_by_classes, _unlike(class_weight=None), _broken_by_width)
CONSTANT = _unlike(schedule="constant")


def _zero_loss(model: Any, quantity: str) -> float:
    """Return the loss of the prediction 0; a mistake counts as 1."""
    loss = loss_of(model) if hasattr(model, "loss") else LOSSES["hinge"]()
    return 1.0 if quantity == "mistakes" else float(loss.evaluate(0.0, 1.0)[0])


def _kernel_error(model: Any, confidence: float) -> float:
    """Return what no kernel value of two samples so far is off by, with that probability.

    A feature product is a mean of D cosines, each with the kernel value as its expectation, so
    Hoeffding's inequality holds for each of the n (n - 1) / 2 pairs.
    """
    n, risk = model.n_seen_, 1 - confidence
    if n < 2:
        return 0.0
    return min(2.0, math.sqrt(2 * math.log(n * (n - 1) / risk) / model.n_components))


def _broken_by_frequencies(model: Any) -> Iterator[str]:
    if model.frequencies != "plain":
        yield f"independent frequencies (frequencies='plain'), got {model.frequencies!r}"


# SPA


def _broken_spa(model: Any) -> Iterator[str]:
    if model.max_support is not None and model.n_support_ >= model.max_support:
        yield f"max_support that is not reached, got {model.max_support}"


def _spa(model: Any, u: Comparator) -> float:
    # The most that eta tau - rho tau^2 / 2 can be, over eta, for losses above and below alpha.
    product = model.eta * model.beta
    step = max(product / (2 * model.alpha), math.sqrt(product * 8 / 27))
    return u.loss + u.norm**2 / (2 * model.eta) + model.n_seen_ * step


# BOGD


def _broken_bogd(model: Any) -> Iterator[str]:
    if model.budget < 2:
        yield f"budget of at least 2, got {model.budget}"
    if model.cap is not None and model.cap < 1:
        yield f"cap of at least 1, got {model.cap}"
    # Then evictions never make a coefficient larger than eta, and the cap changes nothing.
    shrink = model.eta * model.reg
    if not 1 / model.budget <= shrink * (1 + 1e-12) or shrink > 1:
        yield f"eta * reg in [1 / budget, 1] = [{1 / model.budget:.4g}, 1], got {shrink:.4g}"


def _bogd(model: Any, u: Comparator) -> float:
    n, eta, reg = model.n_seen_, model.eta, model.reg
    gradient = 1 + min(1.0, reg * eta) * model.budget
    steps = eta * n * (gradient**2 + 1) / 2
    return u.loss + u.norm**2 * (1 / (2 * eta) + reg * n / 2) + steps


# FOGD and DualSGD


def _fogd(model: Any, u: Comparator) -> float:
    n, square, off = model.n_seen_, u.norm**2, 0.0
    if u.confidence is not None:
        # The comparator is a function of the kernel, and its norm the sum of |alpha|.
        error = _kernel_error(model, u.confidence)
        square, off = (1 + error) * square, error * n * u.norm
    return u.loss + off + square / (2 * model.eta) + model.eta * n / 2


def _dual_sgd(model: Any, u: Comparator) -> float:
    n, reg = model.n_seen_, model.reg
    assert u.confidence is not None
    # Before the budget has overflowed, nothing is approximated.
    approximated = max(0, n - model.budget - 1)
    error = _kernel_error(model, u.confidence) if approximated else 0.0
    learning = reg * n * u.norm**2 / 2 + 2 * (1 + math.log(n)) / reg
    return u.loss + learning + approximated * error / reg


# Perceptrons with a budget


def _broken_projectron(model: Any) -> Iterator[str]:
    if model.budget is not None and model.plus_plus:
        yield f"budget=None with plus_plus, got {model.budget}"
    elif model.budget is not None and model.n_support_ >= model.budget:
        yield f"budget that is not reached (projections then pass eta), got {model.budget}"


def _rbp(model: Any, u: Comparator) -> float:
    root = math.sqrt(model.budget)
    return (u.loss + u.norm * root / 4) / (1 - u.norm / root)


def _broken_forgetron(model: Any) -> Iterator[str]:
    # With a smaller one, shrinking may cost more than 1/32 a mistake.
    if model.budget < LEAST_FORGETRON:
        yield f"budget of at least {LEAST_FORGETRON}, got {model.budget}"


THEOREMS: dict[type[Learner], Theorem] = {
    SPAClassifier: Theorem(
        "after Lu, Zhao, Hoi (2016)", "loss", "expectation",
        (_broken_by_kernel, _broken_spa), _spa,
    ),
    BOGDClassifier: Theorem(
        "after Zhao, Wang, Wu, Jin, Hoi (2012), where the cap does not act",
        "loss", "expectation",
        (_broken_by_kernel, _broken_by_loss, CONSTANT, _unlike(removal="uniform"), _broken_bogd),
        _bogd,
    ),
    FOGDClassifier: Theorem(
        "after Lu, Hoi, Wang, Zhao, Liu (2016)", "loss", "always",
        (_broken_by_loss, CONSTANT, _broken_by_frequencies, _unlike(fit_intercept=False, reg=0)),
        _fogd, confidence="may",
    ),
    DualSGDClassifier: Theorem(
        "after Le, Nguyen, Nguyen, Phung (2016), with the error of the features",
        "loss", "probability",
        (_broken_by_loss, _broken_by_frequencies, _unlike(fit_intercept=False, max_step=None)),
        _dual_sgd, confidence="must",
    ),
    ProjectronClassifier: Theorem(
        "after Orabona, Keshet, Caputo (2009)",
        "mistakes", "always", (_broken_by_kernel, _broken_projectron),
        lambda model, u: (u.norm**2 + 2 * u.loss) / (1 - 2 * model.eta * u.norm),
        lambda model: 1 / (2 * model.eta),
    ),
    RBPClassifier: Theorem(
        "after Cavallanti, Cesa-Bianchi, Gentile (2007), for one comparator",
        "mistakes", "expectation", (_broken_by_kernel,), _rbp,
        lambda model: math.sqrt(model.budget),
    ),
    ForgetronClassifier: Theorem(
        "Dekel, Shalev-Shwartz, Singer (2008), self-tuned; not proved again",
        "mistakes", "always", (_broken_by_kernel, _broken_forgetron),
        lambda _, u: 2 * u.norm**2 + 4 * u.loss,
        lambda model: math.sqrt((model.budget + 1) / math.log(model.budget + 1)) / 4,
    ),
}  # fmt: skip


def _check_number(name: str, value: Any, most: float = math.inf) -> float:
    number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    if not 0 <= number < most:
        wanted = "finite" if most == math.inf else f"below {most}"
        raise ValueError(f"{name} must be >= 0 and {wanted}, got {value!r}")
    return number


def _theorem_of(model: Any) -> Theorem:
    for cls, theorem in THEOREMS.items():
        if isinstance(model, cls):
            return theorem
    reason = " (its objective is not convex: see sketch_bound)"
    raise TypeError(
        f"no theorem for {type(model).__name__}{reason * isinstance(model, SDROGDClassifier)}; "
        f"there is one for {', '.join(cls.__name__ for cls in THEOREMS)}"
    )


def _check_confidence(theorem: Theorem, name: str, confidence: Any) -> None:
    if confidence is None:
        if theorem.confidence == "must":
            raise ValueError(f"confidence must be given: the bound of {name} holds with it")
    elif theorem.confidence == "never":
        raise ValueError(f"confidence must be None for {name}, got {confidence!r}")
    else:
        _check_number("confidence", confidence, 1.0)


def regret_bound(
    model: Learner,
    comparator_norm: float,
    comparator_loss: float = 0.0,
    *,
    confidence: float | None = None,
) -> RegretBound:
    """Return what a theorem promises of a model at this point of its stream.

    The theorem compares the model with a fixed hypothesis of your choice, which may have been
    chosen when all samples were known. The model does not know it: give its norm and what it loses
    on the samples that the model has learnt. For 'mistakes' that is the sum of its hinge losses.
    docs/bounds.md has the bounds, their proofs, and a plot of each beside what happened.

    Parameters
    ----------
    model : Learner
        A fitted SPAClassifier, BOGDClassifier, FOGDClassifier, DualSGDClassifier, RBPClassifier,
        ProjectronClassifier or ForgetronClassifier of two classes.
    comparator_norm : float >= 0
        Norm U of the hypothesis in the space of the kernel, ``sqrt(alpha' K alpha)``. For FOGD the
        length of the weights of its features or, with `confidence`, the sum of ``|alpha_i|``.
    comparator_loss : float >= 0, default=0.0
        Sum of its losses.
    confidence : float in [0, 1) or None, default=None
        With which probability the random features are to be good enough. DualSGD needs it. FOGD
        needs it for a hypothesis of the kernel, and not for one of its features.

    Returns
    -------
    RegretBound

    Raises
    ------
    TypeError
        If there is no theorem for the model.
    ValueError
        If a parameter of the model breaks a condition of the theorem (it says which), the norm is
        larger than the theorem allows, or an argument is out of range.

    Examples
    --------
    >>> from onlinekern import SPAClassifier
    >>> from onlinekern.evaluate import regret_bound
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(2000, random_state=0)
    >>> model = SPAClassifier(gamma=0.4, eta=0.02, random_state=0)
    >>> model = model.partial_fit(X, y, classes=[-1, 1])
    >>> found = regret_bound(model, comparator_norm=2.15, comparator_loss=1530.0)
    >>> found.quantity, found.guarantee, round(found.regret_bound)
    ('loss', 'expectation', 270)
    >>> found.learner <= found.bound < found.trivial
    True
    >>> model.n_support_ <= found.support
    True
    """
    theorem, name = _theorem_of(model), type(model).__name__
    norm = _check_number("comparator_norm", comparator_norm)
    loss = _check_number("comparator_loss", comparator_loss)
    _check_confidence(theorem, name, confidence)
    fitted: Any = model
    n = fitted.n_seen_
    each = (*ALWAYS, *theorem.conditions)
    clauses = [clause for condition in each for clause in condition(fitted)]
    if clauses:
        raise ValueError(f"the bound of {name} needs {'; '.join(clauses)}")
    if n == 0:
        raise ValueError(f"{name} has learnt no sample yet")
    if not norm < (most := theorem.largest_norm(fitted)) * (1 + 1e-12):
        raise ValueError(f"comparator_norm must be below {most:.6g} for {name}, got {norm!r}")
    counted = theorem.quantity == "mistakes"
    support = None
    if isinstance(model, SPAClassifier):
        support = min(model.alpha * n, fitted.cumulative_loss_) / model.beta
    return RegretBound(
        theorem.quantity,
        float(fitted.n_mistakes_ if counted else fitted.cumulative_loss_),
        loss,
        theorem.bound(fitted, Comparator(norm, loss, confidence)),
        n,
        n * _zero_loss(fitted, theorem.quantity),
        theorem.guarantee if confidence is None else "probability",
        confidence,
        support,
        theorem.source,
        ASSUMES if confidence is None else (*ASSUMES, OBLIVIOUS),
    )


def sketch_bound(model: SDROGDClassifier) -> SketchBound:
    """Return how far the sketch of a model can be from all that it has seen.

    The rows are those that the model sketches: the samples if ``sketch='raw'``, else ``sqrt(N_c /
    (N_c + 1)) (x - u_c)``, whose squares add up to N times the within-class scatter.

    Parameters
    ----------
    model : SDROGDClassifier
        A fitted model.

    Returns
    -------
    SketchBound

    Raises
    ------
    TypeError
        If the model is no `SDROGDClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onlinekern import SDROGDClassifier
    >>> from onlinekern.evaluate import sketch_bound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> found = sketch_bound(SDROGDClassifier(sketch="raw", shuffle=False).fit(X, y))
    >>> bool(abs(found.bound - (X**2).sum() / 21) < 1e-8), found.removed <= found.bound
    (True, True)
    """
    if not isinstance(model, SDROGDClassifier):
        raise wrong_type("model", "be an SDROGDClassifier", model)
    space = model._fitted_model.space
    sketch, scatter = space.scatter.sketch, space.scatter
    bound = sketch.squared_norm / (sketch.size + 1)
    within, weight, _ = space.discriminant.arguments
    weight *= within
    return SketchBound(bound, sketch.shrinkage, weight * bound / float(sum(scatter.class_weights)))
