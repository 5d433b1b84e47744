"""Export of models as ONNX graphs, from a description of their scoring."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from onlinekern.fitted.export.c import dtype_of
from onlinekern.fitted.export.describe import describe
from onlinekern.fitted.export.scoring import Scoring
from onlinekern.fitted.save.atomic import replacing

# Both are of 2022, so that older runtimes load the graphs: onnxruntime 1.15 was tried.
OPSET, IR_VERSION = 17, 8
WANTED = "export_onnx needs onnx: pip install 'onlinekern[onnx]'"


def export_onnx(
    estimator: Any, path: str | os.PathLike[str], dtype: Any
) -> tuple[Path, int, tuple[str, ...]]:
    """Write the file; see `estimators.exportable.export_onnx`."""
    target = Path(path)
    if target.suffix != ".onnx":
        raise ValueError(f"path must end in .onnx, got {os.fspath(path)!r}")
    kind = dtype_of(dtype)
    model = model_of(estimator, kind)
    content = model.SerializeToString()
    with replacing(target) as stream:
        stream.write(content)
    return target, len(content), tuple(output.name for output in model.graph.output)


def model_of(estimator: Any, dtype: np.dtype[Any]) -> Any:
    """Return the ModelProto of a fitted estimator."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError(WANTED, name="onnx") from error
    from onlinekern.fitted.export.onnx.graph import Graph, Tensor
    from onlinekern.fitted.export.onnx.table import encoded, inputs_of

    scoring = describe(estimator)
    # A prefix, because a column of the table may have the name of a tensor of the graph.
    graph = Graph("" if scoring.table is None else "onlinekern/")
    x = Tensor(graph, "X", dtype)
    inputs = [x] if scoring.table is None else inputs_of(graph, scoring.table, dtype)
    if scoring.table is not None:
        x = encoded(graph, inputs, scoring.table, dtype)
    results = add_outputs(graph, x, scoring, estimator)
    outputs = []
    for name, result in results.items():
        graph.node("Identity", [result.name], [name])
        outputs.append(information(name, result.dtype, *widths(name, scoring)))
    helper, width = onnx.helper, scoring.n_features if scoring.table is None else 1
    given = [information(one.name, one.dtype, width) for one in inputs]
    whole = helper.make_graph(graph.nodes, scoring.name, given, outputs, graph.constants)
    return helper.make_model(
        whole,
        opset_imports=[
            helper.make_opsetid(*own) for own in ({"": OPSET} | graph.domains()).items()
        ],
        ir_version=IR_VERSION,
        producer_name="onlinekern",
        producer_version=version("onlinekern"),
        doc_string=f"{scoring.name} of onlinekern",
    )


def add_outputs(graph: Any, x: Any, scoring: Scoring, estimator: Any) -> dict[str, Any]:
    """Add a model to a graph; return its outputs by their names, as skl2onnx calls them."""
    from onlinekern.fitted.export.onnx.scoring import link_of, predicted, probabilities, row_scores

    scores = row_scores(graph, x, scoring)
    if scoring.head == "regression":
        return {"variable": scores}
    results = {"label": predicted(graph, scores, scoring)}
    link = link_of(estimator)
    if link is not None:
        results["probabilities"] = probabilities(graph, scores, link, scoring.n_outputs)
    return results | {"scores": scores}


def widths(name: str, scoring: Scoring) -> tuple[int, ...]:
    """Return the shape of an output without the axis of rows."""
    if name == "label":
        return (1,) if scoring.head == "outlier" else ()
    if name == "probabilities":
        return (max(2, scoring.n_outputs),)
    return (scoring.n_outputs,)


def information(name: str, dtype: np.dtype[Any], *axes: int) -> Any:
    """Return name, type and shape of an input or output, for any number of rows."""
    from onnx import TensorProto, helper

    kind = TensorProto.STRING if dtype.kind == "O" else helper.np_dtype_to_tensor_dtype(dtype)
    return helper.make_tensor_value_info(name, kind, [None, *axes])
