"""Trees in C: a table of nodes, and one of the weights of the leaves."""

from __future__ import annotations

import numpy as np

from onlinekern.fitted.export.c.source import Source, literal_of
from onlinekern.fitted.export.terms import FARTHEST, Trees

NODE = "typedef struct {{ float cut; uint16_t feature, left; }} {}_node;\n"
NODE_BYTES = 8


def write_trees(source: Source, id_: str, term: Trees) -> bool:
    features, directions = term.directions.shape
    source.memory(f"{id_}_z", features + directions, "float")
    source.exact(f"{id_}_center", term.center)
    source.exact(f"{id_}_factor", term.factor)
    products = ""
    if directions:
        source.exact(f"{id_}_directions", term.directions)
        sizes = {"features": features, "directions": directions}
        products = source.filled("row_products", id=id_, **sizes).rstrip()
    write_nodes(source, id_, term)
    source.constants(f"{id_}_weights", term.weights)
    source.fill("scaled_row", id=id_, features=features, farthest=FARTHEST, products=products)
    trees, outputs = len(term.first) - 1, term.weights.shape[1]
    source.fill("trees", id=id_, trees=trees, outputs=outputs)
    return True


def write_nodes(source: Source, id_: str, term: Trees) -> None:
    """Write the nodes; their cuts are float in a file of any type, as they are in Python."""
    cuts = (literal_of(cut, np.float32) for cut in term.cuts.tolist())
    numbers = zip(cuts, term.features.tolist(), term.left.tolist(), strict=True)
    source.tables.append(NODE.format(id_))
    nodes = [f"{{{cut}, {feature}, {left}}}" for cut, feature, left in numbers]
    source.records(f"{id_}_nodes", f"{id_}_node", NODE_BYTES, nodes)
    source.integers(f"{id_}_sizes", np.diff(term.first), "uint16_t", 2)
