"""The model that is served: it answers for rows, learns them, and describes itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.exceptions import NotFittedError

from onlinekern.estimators.answers import ANSWERS, answers_of, columns_of
from onlinekern.preprocessing.steps import learner_of
from onlinekern.preprocessing.tables.encoder import encoder_of
from onlinekern.preprocessing.tables.errors import TableError
from onlinekern.serve.refusal import Refusal
from onlinekern.serve.rows import Asked, Samples


@contextmanager
def refusals() -> Iterator[None]:
    """Turn errors of a model into refusals, of a value in a table as those of other values."""
    try:
        yield
    except TableError as error:
        where = "" if error.row is None else f"rows[{error.row}] "
        raise Refusal(400, f'{where}(feature "{error.column}") {error.what}') from error
    except (ValueError, ArithmeticError) as error:
        raise Refusal(422, str(error)) from error
    except MemoryError as error:
        raise Refusal(503, str(error) or "out of memory", 10) from error


class ServedModel:
    """A model that one thread teaches while another one asks it.

    Parameters
    ----------
    model : estimator
    name : str
        How messages call the file.

    Raises
    ------
    ValueError
        If the model has learnt nothing yet, or cannot predict.
    """

    def __init__(self, model: Any, name: str) -> None:
        self.model, self.name = model, name
        self.learner = learner_of(model)
        self.method = type(self.learner).__name__
        if not hasattr(model, "n_features_in_"):
            raise ValueError(
                f"{name}: this {self.method} has learnt nothing yet, not even how many features "
                "there are; onlinekern train makes one that has"
            )
        if not hasattr(model, "predict"):
            raise ValueError(f"{name}: {self.method} does not predict")
        self.task = "regression"
        if is_classifier(self.learner):
            self.task = "classification"
        elif is_outlier_detector(self.learner):
            self.task = "outliers"
        # Between two steps of a pipeline, a reader could find them one call apart.
        self._whole: Any = threading.Lock() if hasattr(model, "steps") else nullcontext()
        self.batches_freely = all(
            hasattr(step, "learn_transform") or not hasattr(step, "partial_fit")
            for _, step in getattr(model, "steps", ())[:-1]
        )

    def check_learns(self) -> None:
        """Raise ValueError if the model does not learn from streams."""
        if not hasattr(self.model, "partial_fit_predict"):
            raise ValueError(
                f"{self.name}: {self.method} does not learn from streams; --read-only serves its "
                "predictions"
            )

    def learn(self, samples: Samples) -> Any:
        """Learn samples, all or none; return the predictions that were made before, ndarray."""
        given = {"sample_weight": samples.sample_weight}
        more = {key: value for key, value in given.items() if value is not None}
        targets = () if samples.y is None else (samples.y,)
        with refusals(), self._whole:
            return self.model.partial_fit_predict(samples.X, *targets, **more)

    def answer(self, X: Any, asked: Asked) -> tuple[Any, list[Any] | None]:
        """Return what the model says of rows, ndarray (n_samples, ...), and the columns' labels.

        The labels are None where answers have no such columns. None is an infinite end.
        """
        with refusals(), self._whole:
            try:
                columns = self.columns(asked.what)
                while True:
                    found = answers_of(self.model, asked.what, X, asked.coverage)
                    before, columns = columns, self.columns(asked.what)
                    # Classes that came meanwhile may be in one of the two alone.
                    if columns == before:
                        break
            except NotFittedError as error:
                raise Refusal(409, f"the model cannot say {asked.what} yet: {error}") from error
        # JSON has no infinity.
        finite = asked.what != "intervals"
        return found if finite else np.where(np.isinf(found), None, found), columns

    def check_asked(self, asked: Asked) -> None:
        """Raise Refusal: 400 if no answers are called so, 422 if the model has none."""
        what = asked.what
        if what not in ANSWERS:
            raise Refusal(400, f"what: unknown {what!r}; known are {', '.join(ANSWERS)}")
        if asked.coverage is not None and what != "intervals":
            raise Refusal(400, f"coverage is for what=intervals, and what is {what}")
        # A property may need what is learnt first: only the class tells.
        if what != "labels" and not hasattr(self.model, ANSWERS[what]):
            raise Refusal(422, f"what={what}: {self.method} has no {ANSWERS[what]}")

    def count(self, name: str) -> int | None:
        """Return an attribute of the learner that counts something; None if there is none (yet)."""
        try:
            value = getattr(self.learner, name, None)
        except NotFittedError:
            return None
        return None if value is None else int(value)

    def columns(self, what: str) -> list[Any] | None:
        """Return the labels of the columns of answers that have several."""
        classes = columns_of(self.learner, what)
        return None if classes is None else list(classes.tolist())

    def description(self) -> dict[str, Any]:
        """Return what the model is, as JSON has it."""
        names, encoder = getattr(self.model, "feature_names_in_", None), encoder_of(self.model)
        classes = getattr(self.learner, "classes_", None)
        return {
            "model": " ".join(str(self.model).split()),
            "method": self.method,
            "task": self.task,
            "n_features": int(self.model.n_features_in_),
            "feature_names": None if names is None else [str(name) for name in names],
            "columns": None if encoder is None else encoder.kinds_,
            "classes": None if classes is None else np.asarray(classes).tolist(),
            "n_seen": self.count("n_seen_"),
            "n_support": self.count("n_support_"),
        }
