"""A model for each key of a stream: what an engine that keeps them as state has in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone, is_classifier

from onlinekern.distributed.arguments import check_learner, check_targets
from onlinekern.distributed.parts import check_column, to_array
from onlinekern.distributed.rows import missing
from onlinekern.fitted.save import to_bytes
from onlinekern.preprocessing.steps import is_fitted

# The column of the result that an engine adds to those of X.
PREDICTION = "prediction"


@dataclass(frozen=True)
class KeyLearner:
    """Learns rows of a key, test-then-train.

    Parameters
    ----------
    begun : bytes
        The model of a key that has no rows yet.
    features : list of str or str
        Columns; a str is one column of arrays.
    y : str
        A column.
    order : str or None
        The column by which rows are sorted. None: they are learnt as they come.
    classes : ndarray or None
    """

    begun: bytes
    features: Any
    y: str
    order: str | None
    classes: Any

    def in_order(self, rows: Any) -> Any:
        """Return the rows of a data frame of pandas in the order in which they are learnt."""
        if self.order is None:
            return rows
        return rows.sort_values(self.order, kind="stable", ignore_index=True)

    def learn(self, model: Any, rows: Any) -> Any:
        """Predict each row, and learn it if its target is there; return the predictions."""
        absent = missing(rows[self.y].to_numpy())
        begins = [0, *(np.flatnonzero(np.diff(absent)) + 1)]
        answers = np.full(len(rows), None, object)
        for first, last in zip(begins, [*begins[1:], len(rows)], strict=True):
            piece = slice(first, last)
            X = self.features_of(rows.iloc[piece])
            if not absent[first]:
                given = {} if self.classes is None else {"classes": self.classes}
                y = to_array(rows[self.y].iloc[piece].infer_objects())
                answers[piece] = model.partial_fit_predict(X, y, **given)
            elif is_fitted(model):
                answers[piece] = model.predict(X)
        return answers

    def features_of(self, rows: Any) -> Any:
        """Return X of some rows."""
        if isinstance(self.features, str):
            return np.stack(rows[self.features].to_list())
        return rows[list(self.features)]


Kind = TypeVar("Kind", bound=KeyLearner)


def learner_of_keys(
    kind: type[Kind],
    estimator: Any,
    X: Any,
    columns: list[str],
    names: dict[str, Any],
    features: Any,
    classes: Any,
) -> Kind:
    """Return what learns the rows of a key, after checks of the arguments of `learn_stream`.

    Parameters
    ----------
    kind : type
        That of an engine.
    estimator, X, features, classes
        See `learn_stream` of an engine.
    columns : list of str
        Those of X.
    names : dict of str to (str or None)
        The columns `key`, `y` and `order`.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid.
    """
    check_learner(estimator)
    check_targets(estimator, X, names["y"], classes)
    for name, value in names.items():
        if value is not None:
            check_column(name, value, columns)
    if PREDICTION in columns:
        raise ValueError(f"X must have no column {PREDICTION!r}: it is that of the result")
    others = [name for name in columns if name not in names.values()]
    chosen = others if features is None else features
    for name in [chosen] if isinstance(chosen, str) else chosen:
        check_column("features", name, columns)
    if is_classifier(estimator) and classes is None and not is_fitted(estimator):
        raise ValueError("classes must be given: a stream tells them late")
    begun = to_bytes(estimator if is_fitted(estimator) else clone(estimator))
    known = None if classes is None else np.unique(np.asarray(classes))
    return kind(begun, chosen, names["y"], names["order"], known)
