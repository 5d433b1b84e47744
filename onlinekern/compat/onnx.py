"""Conversion of scikit-learn pipelines with onlinekern's learners by skl2onnx.

After `register`, skl2onnx converts a scikit-learn Pipeline of its own transformers and a learner of
this library to one ONNX graph. A learner alone and a `StreamPipeline` do not need skl2onnx: use
`export_onnx`. docs/onnx.md shows both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

try:
    import skl2onnx
    from skl2onnx.common.data_types import (
        DoubleTensorType,
        FloatTensorType,
        Int64TensorType,
        StringTensorType,
    )
except ImportError as error:
    raise ImportError(
        "onlinekern.compat.onnx needs skl2onnx: pip install skl2onnx 'onlinekern[onnx]'"
    ) from error

from onlinekern.fitted.export.describe import describe
from onlinekern.fitted.export.onnx import OPSET, add_outputs
from onlinekern.fitted.export.onnx.graph import Graph, Tensor
from onlinekern.fitted.export.onnx.scoring import label_table
from onlinekern.fitted.export.scoring import Scoring

__all__ = ["register"]

# From this opset on, the operators have the form that the exporter uses.
OLDEST_OPSET = 13
# skl2onnx requires the option `nocl` (graphs without labels) for classifiers; it has no effect
# here.
OPTIONS = {"zipmap": [True, False, "columns"], "raw_scores": [True, False], "nocl": [False]}


def register() -> None:
    """Register a converter of each learner with skl2onnx.

    After this, ``skl2onnx.to_onnx`` and ``convert_sklearn`` accept pipelines that end in a learner.
    The type of the input decides whether the learner computes in float32 or in double. Classifiers
    have skl2onnx's options ``zipmap`` and ``raw_scores``. Calling it again changes nothing.

    Raises
    ------
    ImportError
        If skl2onnx is not installed: on the import of this module.

    Notes
    -----
    A conversion raises what `export_onnx` does, and ValueError for a target opset below 13.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skl2onnx import to_onnx
    >>> from onlinekern import SPAClassifier
    >>> from onlinekern.compat.onnx import register
    >>> register()
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), ["no", "yes"]
    >>> model = make_pipeline(StandardScaler(), SPAClassifier(gamma=0.5)).fit(X, y)
    >>> graph = to_onnx(model, X[:1], options={"zipmap": False}).graph
    >>> [output.name for output in graph.output]
    ['label', 'probabilities']
    """
    from onlinekern._registry import all_estimators

    for name, learner in all_estimators():
        options = OPTIONS if issubclass(learner, ClassifierMixin) else None
        skl2onnx.update_registered_converter(
            learner, f"Onlinekern{name}", infer_types, convert, options=options
        )


def infer_types(operator: Any) -> None:
    """Set the types and shapes of an operator's outputs."""
    scoring = describe(operator.raw_operator)
    rows = operator.inputs[0].get_first_dimension()
    kind = DoubleTensorType if is_double(operator) else FloatTensorType
    if scoring.head == "regression":
        operator.outputs[0].set_type(kind([rows, 1]))
        return
    assert scoring.labels is not None
    outlier = scoring.head == "outlier"
    label = Int64TensorType if label_table(scoring.labels)[1] is np.int64 else StringTensorType
    operator.outputs[0].set_type(label([rows, 1] if outlier else [rows]))
    operator.outputs[1].set_type(kind([rows, 1 if outlier else len(scoring.labels)]))


def is_double(operator: Any) -> bool:
    """Return whether a learner computes in double; whole numbers are computed in float32."""
    return isinstance(operator.inputs[0].type, DoubleTensorType)


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a learner to the graph of skl2onnx."""
    opset = container.target_opset
    if opset < OLDEST_OPSET:
        raise ValueError(f"target_opset must be >= {OLDEST_OPSET}, got {opset}")
    learner = operator.raw_operator
    graph = Graph(scope.get_unique_variable_name(f"{type(learner).__name__}_"))
    x = given(graph, operator)
    scoring = describe(learner)
    if scoring.table is not None:
        raise TypeError(
            f"the encoder of the {scoring.name} has no form in skl2onnx: model.export_onnx(path) "
            "writes the whole model"
        )
    results = add_outputs(graph, x, scoring, learner)
    if "label" in results and scoring.head != "outlier":
        raw = container.get_options(learner, {"raw_scores": False})["raw_scores"]
        second = class_scores(graph, results, scoring) if raw else results["probabilities"]
        results = {"label": results["label"], "probabilities": second}
    for output, result in zip(operator.outputs, results.values(), strict=True):
        graph.node("Identity", [result.name], [output.full_name])
    container.nodes.extend(graph.nodes)
    container.initializers.extend(graph.constants)
    container.node_domain_version_pair_sets.add(("", min(OPSET, opset)))
    container.node_domain_version_pair_sets.update(graph.domains().items())


def given(graph: Graph, operator: Any) -> Tensor:
    """Return the input rows of an operator as floats."""
    name = operator.inputs[0].full_name
    if is_double(operator):
        return Tensor(graph, name, np.dtype(np.float64))
    if isinstance(operator.inputs[0].type, FloatTensorType):
        return Tensor(graph, name, np.dtype(np.float32))
    return graph.cast(Tensor(graph, name, np.dtype(np.int64)), np.float32)


def class_scores(graph: Graph, results: dict[str, Tensor], scoring: Scoring) -> Tensor:
    """Return a score for each class; for two classes -f and f, as in skl2onnx."""
    scores = results["scores"]
    if scoring.n_outputs > 1:
        return scores
    return graph.op("Concat", -scores, scores, axis=1)
