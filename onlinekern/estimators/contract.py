"""The base of all estimators: scikit-learn's contract around the compiled stream loop.

Validation ends here; the compiled core trusts its input. An estimator is a dataclass: its fields
are its parameters, and `__init__` only stores them. It is composed of a task (`classification`,
`regression`, `outliers`), a space (`kernel`, `linear`, ...) and a rule, which define the methods at
the end of `Learner`. `fit` and `_partial_fit` show all steps of a call, from top to bottom.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state, gen_even_slices

from onlinekern.core import LOSSES
from onlinekern.core.base.pool import run_together
from onlinekern.core.base.random import Generator
from onlinekern.core.learning.sampling import Sampler
from onlinekern.core.stream import Model
from onlinekern.estimators import exportable
from onlinekern.estimators.atomic import (
    UndoneOnFailure,
    all_or_nothing,
    fit_method,
    lock_of,
    twin_of,
)
from onlinekern.estimators.blas_threads import ONE_THREAD
from onlinekern.estimators.encoded_tables import SLOTS, Encode
from onlinekern.estimators.extensions import check_declared, check_subclass, explained
from onlinekern.estimators.median_width import (
    at_one_moment,
    begin_warm_up,
    first_samples,
    is_warming_up,
    learn_first,
)
from onlinekern.estimators.memory import Form, check_size
from onlinekern.estimators.parameters import (
    OF_NEW_MODELS,
    Count,
    RandomState,
    are_same,
    estimator,
    note_constraints,
    parameters_of_rule,
    warn_of_waiting,
)
from onlinekern.estimators.progress import progress_of
from onlinekern.estimators.savable import Savable
from onlinekern.estimators.scales import LEAST, warn_of_scales
from onlinekern.estimators.scikit_learn import BaseEstimator, InvalidParameterError
from onlinekern.estimators.types import ArrayLike, Floats, Sample, Samples, Weights
from onlinekern.estimators.validation import (
    check_results,
    check_weights,
    goes_by_names,
    named_row,
    row_of,
    validate_data,
)

# One thread computes so many kernel values faster than a second one starts.
LITTLE_WORK = 1 << 18
# A thread scores at least so many rows at once, to fill whole blocks of the core.
ROWS_OF_A_PART = 1024
# Learners with one of these attributes learn single rows by `partial_fit`.
NEEDS_PARTIAL_FIT = {"_warm_up", "_waiting_parameters", "encoder_"}
# The context of models that do not call BLAS.
AS_IT_IS = nullcontext()


def new_generator(draws: np.random.RandomState) -> Generator:
    """Make a random generator of the core, whose seed is drawn from a RandomState."""
    return Generator(int(draws.randint(np.iinfo(np.int64).max, dtype=np.int64)))


@estimator
class Learner(Savable, BaseEstimator):
    """Base of the estimators, which a task, a space and a rule complete."""

    encode: Encode = "auto"
    n_epochs: Count = 1
    shuffle: bool = True
    random_state: RandomState = None
    window: Count | None = None
    n_jobs: int | None = None
    verbose: Annotated[int, "verbose"] = 0

    _learnt_as = "_model"
    _begins_with = OF_NEW_MODELS
    # The parameter that, with the number of features, decides the size of a model.
    _size: ClassVar[str | None] = None
    # Whether the first samples of a stream set the kernel width (`median_width`).
    _warms_up: ClassVar[bool] = False
    # Whether the model calls BLAS or LAPACK, which then get one thread (`blas_threads`).
    _calls_blas: ClassVar[bool] = False
    # Whether it steps once per batch; `fit` then ends with a step on the last, shorter batch.
    _learns_batches: ClassVar[bool] = False
    # Whether NaN in a sample is a missing value.
    _takes_missing: ClassVar[bool] = False
    # Whether categorical columns of a data frame are taken as they are.
    _takes_categories: ClassVar[bool] = False
    # Whether a million sparse features cost little.
    _takes_wide: ClassVar[bool] = False
    # Whether features and targets may have any scales.
    _any_scale: ClassVar[bool] = False
    # Arguments of `validate_data` that check targets.
    _target_checks: ClassVar[dict[str, Any]] = {}

    if TYPE_CHECKING:

        @property
        def encoder_(self) -> Any: ...

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_subclass(cls)
        note_constraints(cls)

    def _validate_params(self) -> None:
        """Check the parameters, and check that a subclass has declared its own as fields."""
        kind: Any = type(self)
        check_declared(kind)
        try:
            super()._validate_params()
        except InvalidParameterError as error:
            raise explained(error, self.get_params(deep=False)) from None

    @fit_method
    def fit(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Learn from scratch, in `n_epochs` passes.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            float32 samples are kept as float32, everything else becomes float64.
        y : array-like of shape (n_samples,)
            Labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0, see Notes of the class; None is 1 for every sample.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X, y or sample_weight are invalid.
        FloatingPointError
            If the learner diverges.
        """
        X, y, weight = self._validate(X, y, sample_weight, start=True, whole=True)
        y = self._encode(y, self._labels(y))
        weight = self._weigh(y, weight, whole=True)
        draws = check_random_state(self.random_state)
        model = self._first_model(X, draws)
        self._look_at_scales(X, y, 0, X.shape[0])
        with self._blas():
            self._model = self._train(model, X, y, weight, draws)
        self._finish()
        return self

    def _partial_fit(
        self, X: Any, y: Any, labels: Any, sample_weight: Weights, scored: bool = False
    ) -> Any:
        """Continue, or begin, with one pass in the given order; return the predictions made.

        If `scored`, return scores instead, ndarray of shape (n_samples, n_outputs).
        """
        with self._blas_for(X):
            start = not self.__sklearn_is_fitted__()
            X, y, weight = self._validate(X, y, sample_weight, start=start)
            y = self._encode(y, labels)
            weight = self._weigh(y, weight)
            if start:
                model = self._first_model(X, check_random_state(self.random_state))
            else:
                model = self._model
            self._renew(model)
            before = model.n_seen
            scores = np.empty((X.shape[0], model.head.n_outputs)) if scored else None
            self._model, predictions = self._learn(model, X, y, weight, None, scores=scores)
            self._look_at_scales(X, y, before, self._model.n_seen)
            self._finish()
            return scores if scored else self._decode(predictions)

    def _validate(
        self, X: Any, y: Any, sample_weight: Weights, start: bool, whole: bool = False
    ) -> Any:
        """Return validated X (C order or CSR, of the model's dtype), y and weights.

        `start`: they begin a stream. `whole`: they are all that is learnt.
        """
        warn_of_waiting(self, start)
        dtype = [np.float64, np.float32] if start else self._model.dtype
        X, y = self._samples(X, y, dtype, start)
        weight = None if sample_weight is None else check_weights(sample_weight, X, whole)
        return (X if start else self._layout(X)), y, weight

    def _first_model(self, X: Any, draws: np.random.RandomState) -> Model:
        """Return the model that begins to learn samples like X."""
        self.__dict__.pop("_warm_up", None)
        if self._warms_up:
            begin_warm_up(self, draws)
        return self._new_model(X, draws)

    def _new_model(self, X: Any, draws: np.random.RandomState) -> Model:
        """Return an untrained model for samples like X."""
        head = self._head()
        self._check_features(X, head.n_outputs)
        # Frequencies are drawn before the seed of the model's generator.
        features = self._features(X, draws)
        rng = new_generator(draws)
        return self._compose(X, self._space(X, head.n_outputs, rng, features), head, rng)

    def _compose(self, X: Any, space: Any, head: Any, rng: Generator) -> Model:
        return Model(space, head, self._rule(), self._sampler(), rng, X.shape[1], X.dtype)

    def _train(
        self, model: Model, X: Any, y: Any, weight: Any, draws: np.random.RandomState
    ) -> Model:
        """Learn in passes; return the model that has learnt."""
        n = X.shape[0]
        with progress_of(self, self.n_epochs * n) as progress:
            for number in range(self.n_epochs):
                order = draws.permutation(n).astype(np.intp) if self.shuffle else None
                if number > 0:
                    # Later passes have the same samples, so the width does not change.
                    self.__dict__.pop("_warm_up", None)
                    self._begin_again(model, X, y, weight, draws, number)
                for part in progress.parts(order, n):
                    # Later passes note no scores: their samples have been learnt before.
                    model, _ = self._learn(model, X, y, weight, part, noted=number == 0)
                    progress.add(n if part is None else len(part), model)
        if self._learns_batches:
            model.space.end_batch()
        return model

    def _begin_again(
        self, model: Model, X: Any, y: Any, weight: Any, draws: np.random.RandomState, number: int
    ) -> bool:
        """Prepare a model that has learnt the samples in `number` passes for the next pass.

        Return whether it begins from scratch; by default, it does not.
        """
        return False

    def _learn(
        self,
        model: Model,
        X: Any,
        y: Any,
        weight: Any,
        order: Any,
        noted: bool = True,
        scores: Any = None,
    ) -> tuple[Model, Any]:
        """Learn samples once; return the model that has learnt, and its predictions before.

        `noted` and `scores` are as in `Model.learn`.
        """
        if "_warm_up" in self.__dict__:
            return learn_first(self, model, X, y, weight, order, noted, scores)
        return model, model.learn(X, y, weight, order, self.window or 0, scores, noted)

    def _teach_row(self, x: Any, y: Any, weight: float) -> Floats | None:
        """Learn one row of an encoded target, or several, as `partial_fit` does; few checks.

        Returns
        -------
        ndarray of shape (1, n_outputs), or None
            Its scores before; None if nothing was learnt, because the row needs `partial_fit`.
        """
        own = vars(self)
        model = own.get("_model")
        if model is None or NEEDS_PARTIAL_FIT & own.keys() or model.n_seen < LEAST:
            return None
        if own.get("class_weight") is not None or not 0 <= weight < np.inf:
            return None
        if type(x) is not np.ndarray or x.dtype.kind != "f" or x.ndim != 1:
            return None
        rows = np.ascontiguousarray(x[None], dtype=model.dtype)
        if not np.isfinite(rows).all() or x.shape[0] != own.get("n_features_in_"):
            return None
        scores = np.empty((1, model.head.n_outputs))
        given = None if weight == 1 else np.array([weight], dtype=np.float64)
        with self._blas() if self._next_calls_blas() else AS_IT_IS:
            targets = np.array(y, ndmin=1)
            model.learn(self._layout(rows), targets, given, None, self.window or 0, scores)
        return scores

    def _learn_number(self, x: Any, number: Any, weight: float) -> None:
        """Learn one sample of an encoded target."""
        model = self._model
        if not (self._calls_blas and self._next_calls_blas()):
            model.learn_one(x, number, weight)
            return
        with lock_of(self), UndoneOnFailure(model), ONE_THREAD():
            model.learn_one(x, number, weight)

    def _blas(self) -> AbstractContextManager[Any]:
        """Return the context in which the model learns."""
        return ONE_THREAD() if self._calls_blas else AS_IT_IS

    def _blas_for(self, X: Any) -> AbstractContextManager[Any]:
        """Return the same for rows of a stream; a single row that calls no BLAS sets no threads."""
        attributes = self.__dict__
        alone = self._calls_blas and getattr(X, "shape", ())[:1] == (1,) and "_model" in attributes
        if alone and "_warm_up" not in attributes and not self._next_calls_blas():
            return AS_IT_IS
        return self._blas()

    def _look_at_scales(self, X: Any, y: Any, before: int, now: int) -> None:
        """Warn of scales in the call that brings sample 20; `before` and `now` count samples.

        So there is one warning, without a flag to remember it.
        """
        if not self._any_scale and before < LEAST <= now:
            # The samples kept so far say more than those of a short call.
            rows, targets = first_samples(self)
            warn_of_scales(self, *((X, y) if rows is None else (rows, targets)))

    def _renew(self, model: Model) -> None:
        """Apply parameters of the step that were set since the last call."""
        given = parameters_of_rule(self)
        if are_same(model.renewed, given):
            return
        rule, sampler = self._rule(), self._sampler()
        if rule != model.rule or sampler != model.sampler:
            self._validate_params()
            model.rule, model.sampler = rule, sampler
        model.renewed = given

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: a consistent state, even while other threads teach."""
        if not is_warming_up(self):
            return super().__getstate__()
        with lock_of(self):
            return at_one_moment(super().__getstate__())

    def _renumber(self, numbers: Any) -> None:
        """Note that class k has become class numbers[k]."""
        if is_warming_up(self):
            self._warm_up: Any = vars(self)["_warm_up"].renumbered(numbers)

    @all_or_nothing
    def _renew_parameters(self, before: dict[str, Any]) -> None:
        super()._renew_parameters(before)
        self._renew(self._model)

    export_c = exportable.export_c
    export_onnx = exportable.export_onnx

    def score_one(self, x: Sample) -> float | Floats:
        """Score one sample, without scikit-learn's validation.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or dict
            Fastest as an array, C-contiguous and of the model's dtype. The keys of a dictionary are
            the names of the columns (docs/tables.md).

        Returns
        -------
        float, or ndarray of shape (n_classes,) with more than two classes
            Its `decision_function` (`predict` of a regressor).

        Raises
        ------
        ValueError
            If x has not `n_features_in_` finite features.
        FloatingPointError
            If the score is not finite.
        """
        attributes = self.__dict__
        if "encoder_" in attributes or (type(x) is not np.ndarray and goes_by_names(attributes, x)):
            x = row_of(self, x)
        try:
            score = attributes["_model"].score_one(x)
        except (KeyError, TypeError, ValueError) as error:
            score = self._fitted_model.score_one(named_row(self, x, error))
        # For a few numbers Python's sum is faster than NumPy's, and does not warn.
        if not isfinite(score if isinstance(score, float) else sum(score.tolist())):
            check_results(np.atleast_2d(score), "score")
        return score

    def _scores(self, X: Any) -> Floats:
        """Return the scores of the rows of X, finite, ndarray of shape (n_samples, n_outputs)."""
        model = self._fitted_model
        X = self._rows(X, model.dtype)
        scores = np.empty((X.shape[0], model.head.n_outputs))
        # joblib takes microseconds to resolve None, and a single row needs one thread.
        alone = X.shape[0] == 1 and self.n_jobs is None
        n_jobs = 1 if alone else min(effective_n_jobs(self.n_jobs), X.shape[0])
        rows = self._layout(X)
        if n_jobs == 1 or model.work(X.shape[0]) < LITTLE_WORK:
            model.scores(rows, scores)
        else:
            # More parts than threads: a thread that another process holds up gets fewer.
            n_parts = max(n_jobs, min(4 * n_jobs, X.shape[0] // ROWS_OF_A_PART))
            ends = [(part.start, part.stop) for part in gen_even_slices(X.shape[0], n_parts)]
            with model.reading():
                run_together(lambda part: model.score_rows(rows, scores, *part), ends, n_jobs)
        check_results(scores, "score")
        return scores

    def _n_bytes(self, form: Form) -> int:
        """Return the least number of bytes that a model takes, whatever it learns."""
        raise NotImplementedError(f"{type(self).__name__}._n_bytes")

    def _check_features(self, X: Any, n_outputs: int) -> None:
        """Raise MemoryError if there is no room for a model of samples like X."""
        self._check_form(Form.of(X, n_outputs))

    def _check_form(self, form: Form) -> int:
        """Raise MemoryError if a model has no room, else return its least size in bytes."""
        n_bytes = twin_of(self)._n_bytes(form)
        if self._size is None:
            check_size("n_features", form.n_features, n_bytes)
        else:
            check_size(self._size, getattr(self, self._size), n_bytes, form.n_features)
        return n_bytes

    def _check_growth(self, head: Any) -> None:
        """Raise MemoryError if there is no room for the model with the outputs of this head."""

    def _read(self, read: Callable[[Any], Any]) -> Any:
        """Return the result of a function of the model's space, while no thread changes it."""
        model = self._fitted_model
        with model.reading():
            return read(model.space)

    def _read_in_units(self, read: Callable[[Any], Any], mean: bool = False) -> Any:
        """Return the same in the units of the targets, plus their mean if `mean`.

        With several targets, outputs are the first axis of the values.
        """
        model = self._fitted_model
        with model.reading():
            values = read(model.space)
            if model.head.target_forgetting == 0:
                return values
            mean_added, scale = (model.target_mean if mean else 0.0), model.target_scale
            if model.head.n_targets > 1 and np.ndim(values) > 1:
                each = (-1, *[1] * (np.ndim(values) - 1))
                mean_added, scale = np.reshape(mean_added, each), np.reshape(scale, each)
            return mean_added + scale * values

    @property
    def _fitted_model(self) -> Model:
        try:
            return self.__dict__["_model"]
        except KeyError:
            name = type(self).__name__
            if "_waiting" in self.__dict__:
                raise NotFittedError(
                    f"This {name} has seen samples of one class only: it has no scores before the "
                    "second class has come."
                ) from None
            raise NotFittedError(
                f"This {name} instance is not fitted yet: call fit or partial_fit first."
            ) from None

    def __sklearn_is_fitted__(self) -> bool:
        # Defined here because each call needs it: it saves a call into scikit-learn.
        return "_model" in self.__dict__

    @property
    def n_seen_(self) -> int:
        """Number of samples learnt."""
        return self._fitted_model.n_seen

    @property
    def cumulative_loss_(self) -> float:
        """Sum of weight times loss of the samples, each before it was learnt."""
        return self._fitted_model.cumulative_loss

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._takes_missing
        return tags

    # The task defines the following methods.

    def _samples(self, X: Any, y: Any, dtype: Any, start: bool) -> Any:
        """Return validated X and y."""
        return validate_data(
            self, X, y, dtype=dtype, reset=start, missing=self._takes_missing, learn=True,
            **self._target_checks,
        )  # fmt: skip

    def _rows(self, X: Any, dtype: Any) -> Any:
        """Return validated rows of samples that are not learnt."""
        return validate_data(self, X, dtype=dtype, reset=False, missing=self._takes_missing)

    def _encoding(self, X: Any, y: Any) -> dict[str, Any]:
        """Return the parameters of the encoder for tables like X, the first one, with targets y."""
        return {"categories": "auto"} if self._takes_wide else {}

    def _slots(self, y: Any) -> int:
        """Return how many slots categories and words share, given the first targets y."""
        return SLOTS

    def _labels(self, y: Any) -> Any:
        """Return the labels in all targets y; None if there are no classes."""
        return None

    def _encode(self, y: Any, labels: Any) -> Any:
        """Return validated targets as the core takes them."""
        return y

    def _weigh(self, y: Any, weight: Any, whole: bool = False) -> Any:
        """Return weights of encoded samples; `whole`: y is no part of a stream, but all of it."""
        return weight

    def _decode(self, predictions: Any) -> Any:
        """Return predictions of the core as users see them."""
        return predictions

    def _n_labels(self) -> int:
        """Return the number of classes, 0 of a regression."""
        return 0

    def _head(self) -> Any:
        """Return the head, which turns scores and a target into scalar problems."""
        raise NotImplementedError(f"{type(self).__name__}._head")

    def _plain_loss(self) -> Any:
        """Return the loss whose slope is 1 or 0."""
        return LOSSES["hinge"]()

    # The rule defines the following methods.

    def _rule(self) -> Any:
        """Return the rule: from score and target of a scalar problem to a coefficient."""
        raise NotImplementedError(f"{type(self).__name__}._rule")

    def _sampler(self) -> Any:
        """Return the sampler in front of the rule; by default, every sample passes."""
        return Sampler()

    # The space defines the following methods.

    def _features(self, X: Any, draws: np.random.RandomState) -> Any:
        """Return a new feature map for samples like X; None if the space has none."""
        return None

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        """Return a new space for samples like X, with the map of `_features`."""
        raise NotImplementedError(f"{type(self).__name__}._space")

    def _layout(self, X: Any) -> Any:
        """Return X in a layout that the model takes."""
        return X

    def _next_calls_blas(self) -> bool:
        """Return whether the next sample may call BLAS; setting the threads takes microseconds."""
        return True

    def _finish(self) -> None:
        """Do what is due after each bulk call that succeeded."""
