"""Checks that the attributes of a loaded estimator fit together.

The core checks its parts when they are restored. The attributes around them are checked by their
classes, in `_check_loaded`, for Python code uses them without a look; and here, where classes of
several layers meet.
"""

from __future__ import annotations

from typing import Any

from onlinekern.estimators.atomic import LEARNT
from onlinekern.estimators.savable import require

# These attributes follow from others; files do not hold them.
DERIVED = {"_numbers"}


def complete(loaded: Any) -> None:
    """Set the derived attributes of an object; raise ValueError if the others do not agree, or if
    it has learnt with parameters that are not valid."""
    check_parameters(loaded)
    own, learnt = vars(loaded), getattr(loaded, "_learnt_as", None)
    for name in (*LEARNT, "_map", "_wealth", "_coverage"):
        # Only a class that learns one of these, its `_learnt_as`, may have it.
        require(name not in own or name == learnt, f"{name} is of another class")
    if "_model" in own:
        check_learner(loaded)
    if hasattr(loaded, "_check_loaded"):
        loaded._check_loaded()


def check_parameters(loaded: Any) -> None:
    """Check the parameters of what has learnt, which it can with valid ones only.

    Others may hold any, as in Python, and say so when they learn.
    """
    if not hasattr(loaded, "_get_param_names"):
        return
    own, names = vars(loaded), set(loaded._get_param_names())
    waiting = own.get("_waiting_parameters", {})
    # Those of an estimator inside have its name before theirs.
    known = type(waiting) is dict and {str(n).partition("__")[0] for n in waiting} <= names
    require(known, "what waits for fit is none of it")
    if own.keys() - names:
        loaded._validate_params()


def check_learner(learner: Any) -> None:
    """Check that a learner's model is one, and of its features, first samples and categories."""
    from onlinekern.core.race import Race
    from onlinekern.core.renewed_model import RenewedModel
    from onlinekern.core.renewed_race import RenewedRace
    from onlinekern.core.stream import Model
    from onlinekern.estimators.categories import are_categories
    from onlinekern.estimators.median_width import WarmUp

    own, model = vars(learner), learner._model
    require(type(model) in (Model, RenewedModel, Race, RenewedRace), "its model is none")
    check_features(learner)
    if "_warm_up" in own:
        known = learner._warms_up and type(own["_warm_up"]) is WarmUp
        require(known, "its first samples are none")
        own["_warm_up"].check_fits(model)
    if "_categories" in own:
        coded = getattr(model.space, "categories", None)
        require(are_categories(own["_categories"], coded), "its categories are none of the model")


def check_features(learner: Any) -> None:
    """Check that the features of a learner, or those that its encoder makes, are the model's."""
    own = vars(learner)
    n_features = own.get("n_features_in_")
    if "encoder_" in own:
        from onlinekern.preprocessing.tables.encoder import TableEncoder

        encoder = own["encoder_"]
        fitted = type(encoder) is TableEncoder and "_columns" in vars(encoder)
        require(fitted, "its encoder is none")
        require(n_features == len(encoder._columns), "the number of columns is not one")
        n_features = encoder.n_features_out_
    require(n_features == learner._model.d, "the number of features is not one")
