"""Checks of the arguments, made before anything is sent."""

from __future__ import annotations

import os
from typing import Any

from sklearn.base import is_classifier, is_regressor

from onlinekern.distributed.parts import are_files
from onlinekern.estimators.savable import Savable
from onlinekern.fitted.save.stores import is_stored
from onlinekern.preprocessing.steps import learner_of
from onlinekern.preprocessing.tables.encoder import encoder_of
from onlinekern.streams.paths import check_writable


def check_learner(estimator: Any) -> None:
    """Raise TypeError unless an estimator is one that learns streams, and may be merged."""
    learner = learner_of(estimator)
    if not isinstance(learner, Savable) or not hasattr(learner, "partial_fit"):
        raise TypeError(
            "estimator must be a learner of streams of onlinekern, or a pipeline that ends with "
            f"one, got {estimator!r}"
        )


def check_targets(estimator: Any, X: Any, y: Any, classes: Any) -> None:
    """Raise ValueError if there is no y where one is needed, or classes where there are none."""
    if classes is not None and not is_classifier(estimator):
        raise ValueError(f"classes must be None: {type(estimator).__name__} is no classifier")
    learns_targets = is_classifier(estimator) or is_regressor(estimator)
    if y is None and learns_targets and (are_files(X) or not isinstance(X, list | tuple)):
        raise ValueError(f"y must be given: {type(estimator).__name__} learns targets")


def check_options(X: Any, checkpoint: Any, storage_options: Any) -> None:
    """Raise ValueError if there are options of stores, but no stores."""
    if storage_options is not None and not are_files(X) and not is_stored(checkpoint):
        raise ValueError("storage_options must be None: neither X nor checkpoint is a URL")


def check_checkpoint(estimator: Any, path: Any, resume: bool, storage_options: Any) -> None:
    """Raise unless a checkpoint can be written, and there is one to resume from."""
    if path is None:
        if resume:
            raise ValueError("checkpoint must be given where resume is True")
        return
    if not isinstance(estimator, Savable):
        raise TypeError(f"checkpoint must be None: {type(estimator).__name__} has no method save")
    if os.path.isdir(path):
        raise IsADirectoryError(21, "Is a directory", os.fspath(path))
    check_writable(path, True, storage_options)


def takes_tables(estimator: Any) -> bool:
    """Return whether an estimator begins with an encoder of tables, or is sure to make one."""
    return encoder_of(estimator) is not None or getattr(estimator, "encode", None) in (True,)
