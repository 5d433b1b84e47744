"""Stream pipelines: transformers that learn together with the learner after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Self

from sklearn import get_config
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from onlinekern.estimators import exportable
from onlinekern.estimators.atomic import lock_of
from onlinekern.estimators.savable import Savable, require
from onlinekern.estimators.scikit_learn import available_if
from onlinekern.estimators.types import Array, Classes, Floats, Sample, Samples, Targets, Weights
from onlinekern.estimators.validation import no_name_warnings, one_row, own_weight
from onlinekern.preprocessing.steps import (
    does_something,
    is_fitted,
    learner_of,
    takes,
    undone_on_failure,
)
from onlinekern.preprocessing.tables.encoder import TableEncoder, only


def final_has(method: str) -> Callable[[Any], bool]:
    """Return a check for `available_if`: whether the last step has a method."""
    return lambda pipeline: hasattr(learner_of(pipeline), method)


class StreamPipeline(Savable, Pipeline):
    """A scikit-learn Pipeline whose steps all learn from a stream.

    In `partial_fit`, `partial_fit_predict` and `learn_one`, each transformer learns the samples,
    transforms them and passes them on. There are three kinds of transformers:

    * one with `learn_transform` (all of this library, such as `OnlineStandardScaler`) learns and
      transforms row by row. The features of a sample depend only on it and the samples before it.
      The result of a pipeline of such steps does not depend on the batches, bit for bit;
    * one with `partial_fit` (scikit-learn's StandardScaler, IncrementalPCA, MiniBatchKMeans) learns
      the batch, then transforms it. So the model depends on the batches;
    * one that needs no fit (Normalizer, HashingVectorizer, FunctionTransformer), or that has been
      fitted before and has no `partial_fit`, only transforms.

    Any other transformer is refused. Everything else is as in a Pipeline: `predict`, `score`,
    parameters with the names ``step__parameter``, grid search, cloning. `fit` is a Pipeline's: each
    transformer is fitted on all samples before it transforms them.

    Parameters
    ----------
    steps : list of (str, estimator)
        Transformers, then a learner with `partial_fit`. 'passthrough' is a step that does nothing.
    transform_input : list of str or None, default=None
        Names of the metadata that the steps transform, as in Pipeline.
    memory : str, object with the joblib.Memory interface or None, default=None
        Where `fit` keeps fitted transformers, as in Pipeline.
    verbose : bool, default=False
        Whether `fit` prints the time of each step, as in Pipeline.

    Notes
    -----
    A call that fails leaves all steps unchanged; for this, each call copies the state of steps from
    other libraries. `save` accepts pipelines of this library's steps; use pickle for others. Only
    one thread can learn at a time. If another thread predicts meanwhile, the transformer may have
    learnt one call more than the learner.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import KernelPAClassifier, OnlineStandardScaler, make_stream_pipeline
    >>> X = np.random.default_rng(0).normal(size=(2000, 3)) * [1e-6, 1, 1e6]
    >>> y = (X[:, 0] * X[:, 2] > 0).astype(int)
    >>> model = make_stream_pipeline(OnlineStandardScaler(), KernelPAClassifier(gamma=0.5))
    >>> predicted = model.partial_fit_predict(X, y, classes=[0, 1])
    >>> bool(np.mean(predicted[1000:] != y[1000:]) < 0.1)
    True
    """

    def fit(
        self, X: Samples, y: Targets = None, sample_weight: Weights = None, **params: Any
    ) -> Self:
        """Fit each transformer on all samples, transform them, and fit the learner.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            What the first step takes.
        y : array-like of shape (n_samples,), default=None
        sample_weight : array-like of shape (n_samples,), default=None
            Weights for all steps that take some; None is 1 for every sample. With scikit-learn's
            routing of metadata, for the steps that request them.
        **params : dict
            As in Pipeline: ``step__parameter``.

        Returns
        -------
        self : object
        """
        if sample_weight is not None and get_config()["enable_metadata_routing"]:
            params["sample_weight"] = sample_weight  # The steps have been checked for it.
        elif sample_weight is not None:
            for name, step in self.steps:
                if takes(step, "fit", "sample_weight"):
                    params[f"{name}__sample_weight"] = sample_weight
        with self._all_or_nothing(), self._encoder_known():
            super().fit(X, y, **params)
        return self

    @available_if(final_has("partial_fit"))
    def partial_fit(
        self, X: Samples, y: Targets = None, classes: Classes = None, sample_weight: Weights = None
    ) -> Self:
        """Learn a batch, in its order, through all steps.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            What the first step takes.
        y : array-like of shape (n_samples,), default=None
        classes : array-like of shape (n_classes,), default=None
            All labels, for the learner. A classifier needs them in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights for all steps that take some; None is 1 for every sample. With scikit-learn's
            routing of metadata, for the steps that request them (`set_partial_fit_request`).

        Returns
        -------
        self : object

        Raises
        ------
        TypeError
            If a step needs to be fitted but cannot learn from a stream.
        """
        self._teach("partial_fit", X, y, classes, sample_weight)
        return self

    @available_if(final_has("partial_fit_predict"))
    def partial_fit_predict(
        self, X: Samples, y: Targets = None, classes: Classes = None, sample_weight: Weights = None
    ) -> Array:
        """Predict each sample, then learn it (test-then-train).

        Parameters
        ----------
        X, y, classes, sample_weight
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._teach("partial_fit_predict", X, y, classes, sample_weight)

    @available_if(final_has("_partial_fit_scores"))
    def _partial_fit_scores(
        self, X: Samples, y: Targets, classes: Classes = None, sample_weight: Weights = None
    ) -> Floats:
        """Score each sample, then learn it, like `partial_fit_predict`; return the scores."""
        return self._teach("_partial_fit_scores", X, y, classes, sample_weight)

    @available_if(final_has("partial_fit"))
    def learn_one(
        self, x: Sample, y: Any = None, classes: Classes = None, sample_weight: float = 1.0
    ) -> Self:
        """Learn one sample through all steps.

        Parameters
        ----------
        x : ndarray of shape (n_features,), CSR matrix of shape (1, n_features), or dict
        y : label or float, default=None
        classes : array-like of shape (n_classes,), default=None
            As in `partial_fit`.
        sample_weight : float >= 0, default=1.0
            Weight for all steps that take one, or request it, as in `partial_fit`.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If x has not as many finite features as the steps have learnt, the weight is negative or
            not finite, or y is a label that the learner does not know.
        """
        learner, weight = learner_of(self), own_weight(sample_weight)
        one = None if weight is None else sample_weight
        target = None if y is None else [y]
        if not hasattr(learner, "learn_one") or not self.__sklearn_is_fitted__():
            return self.partial_fit(as_rows(x), target, classes, weight)
        weighs = self._weighed_steps(weight)
        with self._all_or_nothing():
            for name, step in self._transformers():
                its = one if name in weighs else None
                if hasattr(step, "learn_transform_one"):
                    x = step.learn_transform_one(x, y, **weighed(step, "learn_transform_one", its))
                else:
                    its_weight = weight if name in weighs else None
                    with rows_for(step):
                        rows = learn_and_transform(name, step, as_rows(x), target, its_weight)
                    x = only(rows)
            given = () if y is None else (y,)
            more = {} if classes is None else {"classes": classes}
            its = one if self.steps[-1][0] in weighs else None
            learner.learn_one(x, *given, **more, **weighed(learner, "learn_one", its))
        return self

    @available_if(final_has("score_one"))
    def score_one(self, x: Sample) -> float | Floats:
        """Score one sample.

        Parameters
        ----------
        x : ndarray of shape (n_features,), CSR matrix of shape (1, n_features), or dict

        Returns
        -------
        float, or ndarray of shape (n_classes,) with more than two classes

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If x has not as many finite features as the steps have learnt.
        """
        check_is_fitted(self)
        for _, step in self._transformers():
            if hasattr(step, "transform_one"):
                x = step.transform_one(x)
            else:
                with rows_for(step):
                    x = only(step.transform(as_rows(x)))
        return learner_of(self).score_one(x)

    @available_if(final_has("predict_interval"))
    def predict_interval(self, X: Samples, coverage: float | None = None) -> tuple[Array, Array]:
        """Predict intervals that contain the targets with a given probability, with the learner.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            What the first step takes.
        coverage : float in (0, 1) or None, default=None
            None: the default of the learner, which is 0.9 or its parameter.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples,)

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If coverage is not in (0, 1).
        """
        given = () if coverage is None else (coverage,)
        return learner_of(self).predict_interval(self._transformed(X), *given)

    @available_if(final_has("predict_set"))
    def predict_set(self, X: Samples) -> Array:
        """Predict sets that contain the labels of a given share of the samples, with the learner.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            What the first step takes.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
            Whether a label is in the set; the columns are in the order of `classes_`.

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        """
        return learner_of(self).predict_set(self._transformed(X))

    def _transformed(self, X: Any) -> Any:
        """Return samples after all transformers."""
        check_is_fitted(self)
        for _, step in self._transformers():
            X = step.transform(X)
        return X

    def _teach(self, method: str, X: Any, y: Any, classes: Any, sample_weight: Any) -> Any:
        """Call a method of the learner with X after the transformers, which learn X too."""
        for name, step in self._transformers():
            check_streams(name, step)
        weights = dict.fromkeys(self._weighed_steps(sample_weight), sample_weight)
        given = {"classes": classes, "sample_weight": weights.get(self.steps[-1][0])}
        with self._all_or_nothing():
            for name, step in self._transformers():
                X = learn_and_transform(name, step, X, y, weights.get(name))
            more = {key: value for key, value in given.items() if value is not None}
            with self._encoder_known():
                return getattr(learner_of(self), method)(X, y, **more)

    def _transformers(self) -> list[tuple[str, Any]]:
        """Return the names and the steps before the learner."""
        return [(name, step) for name, step in self.steps[:-1] if does_something(step)]

    def _weighed_steps(self, sample_weight: Any) -> list[str]:
        """Return the names of the steps that get the weights of samples: all, or with
        scikit-learn's routing of metadata those that request them for `partial_fit`."""
        if sample_weight is None or not get_config()["enable_metadata_routing"]:
            return [name for name, _ in self.steps]
        router, params = MetadataRouter(owner=self), {"sample_weight": sample_weight}
        mapping = MethodMapping().add(caller="partial_fit", callee="partial_fit")
        for name, step in self.steps:
            if takes(step, "partial_fit", "sample_weight"):
                router.add(method_mapping=mapping, **{name: step})
        router.validate_metadata(method="partial_fit", params=params)
        routed = router.route_params(caller="partial_fit", params=params)
        return [name for name, calls in routed.items() if calls.partial_fit]

    @contextmanager
    def _encoder_known(self) -> Iterator[None]:
        """Return a context in which the learner knows the encoder that is the step before it."""
        before, learner = self._transformers(), learner_of(self)
        tells = before and type(before[-1][1]) is TableEncoder and isinstance(learner, Savable)
        if tells:
            learner._encoder_in_front = before[-1][1]
        try:
            yield
        finally:
            if tells:
                vars(learner).pop("_encoder_in_front", None)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Return a context for one thread at a time; a failure inside restores all steps."""
        with lock_of(self), undone_on_failure(self):
            yield

    def __sklearn_is_fitted__(self) -> bool:
        # A learner that waits for a second class predicts the first, and says that it needs
        # another.
        return bool("_waiting" in vars(learner_of(self)) or Pipeline.__sklearn_is_fitted__(self))

    def _check_loaded(self) -> None:
        steps: Any = vars(self).get("steps")
        require(isinstance(steps, list) and len(steps) > 0, "it has no steps")
        for step in steps:
            require(isinstance(step, tuple) and len(step) == 2, "its steps are no pairs")
            require(isinstance(step[0], str), "the names of its steps are no text")
            known = step[1] is None or isinstance(step[1], (str, Savable))
            fits = known or hasattr(step[1], "get_params")
            require(fits, f"its step {step[0]!r} is no estimator")

    export_c = exportable.export_c
    export_onnx = exportable.export_onnx

    @property
    def n_support_(self) -> int:
        """Number of support vectors of the learner."""
        return learner_of(self).n_support_


def weighed(step: Any, method: str, sample_weight: Any) -> dict[str, Any]:
    """Return the weights as an argument of a method, if there are any and it accepts them."""
    if sample_weight is None or not takes(step, method, "sample_weight"):
        return {}
    return {"sample_weight": sample_weight}


def check_streams(name: str, step: Any) -> None:
    """Raise TypeError unless a transformer can be used in a stream."""
    if hasattr(step, "learn_transform") or hasattr(step, "partial_fit"):
        return
    if get_tags(step).requires_fit and not is_fitted(step):
        raise TypeError(
            f"the step {name!r} ({type(step).__name__}) cannot learn from a stream: it has neither "
            "learn_transform nor partial_fit. Fit it before it becomes a step, on a sample of the "
            "stream, or take a transformer that has partial_fit"
        )


def learn_and_transform(name: str, step: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Let a transformer learn samples, then transform them."""
    method = next((m for m in ("learn_transform", "partial_fit") if hasattr(step, m)), None)
    if method is None:
        check_streams(name, step)
        return step.transform(X)
    learnt = getattr(step, method)(X, y, **weighed(step, method, sample_weight))
    return learnt if method == "learn_transform" else step.transform(X)


def rows_for(step: Any) -> AbstractContextManager[None]:
    """Return a context for single rows, which have no names even if a step has learnt some."""
    return no_name_warnings() if hasattr(step, "feature_names_in_") else nullcontext()


def as_rows(x: Any) -> Any:
    """Return one sample as rows; text and other objects that are no numeric array become a list."""
    return [x] if isinstance(x, (str, dict)) else one_row(x)


def make_stream_pipeline(
    *steps: Any, memory: Any = None, transform_input: list[str] | None = None, verbose: bool = False
) -> StreamPipeline:
    """Make a `StreamPipeline` whose steps are named after their classes, in lower case.

    Parameters
    ----------
    *steps : estimators
        Transformers, then a learner with `partial_fit`.
    memory, transform_input, verbose
        As in `StreamPipeline`.

    Returns
    -------
    StreamPipeline

    Examples
    --------
    >>> from onlinekern import OnlineStandardScaler, SPAClassifier, make_stream_pipeline
    >>> list(make_stream_pipeline(OnlineStandardScaler(), SPAClassifier()).named_steps)
    ['onlinestandardscaler', 'spaclassifier']
    """
    if not steps:
        raise TypeError("steps are missing: transformers, then a learner, as in "
                        "make_stream_pipeline(TableEncoder(), PAClassifier())")  # fmt: skip
    for step in steps:
        if isinstance(step, type):
            raise TypeError(f"steps are objects, {step.__name__}(), not the class {step.__name__}")
    named = make_pipeline(*steps).steps
    return StreamPipeline(named, memory=memory, transform_input=transform_input, verbose=verbose)
