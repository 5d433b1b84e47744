"""Rows of dictionaries: the compiled way gives what the long way gives."""

from collections import OrderedDict, defaultdict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from onlinekern.compat._vocabulary import Vocabulary
from onlinekern.core.samples.dictionaries import dense_row, sparse_row

NAMES = ["a", "b", "c", 4, None, ("d", 5)]
SAMPLES = {
    "whole": dict(zip(NAMES, [1.0, -2, True, 0.0, np.float32(0.1), np.int64(7)], strict=True)),
    "backwards": dict(zip(NAMES[::-1], range(6), strict=True)),
    "some": {"c": 3.0, "a": 1.5},
    "none": {},
    "unknown": {"z": 1.0, "b": 2.0, "y": "text"},
    "text of a number": {"a": "1.5", "b": 2.0},
    "missing": {"a": None, "b": 2.0},
    "other numbers": {"a": Decimal("0.1"), "b": Fraction(1, 3), "c": np.bool_(True)},
    "array": {"a": np.array(2.0)},
    "not finite": {"a": np.nan, "b": -np.inf},
    "ordered": OrderedDict(b=1.0, a=2.0),
    "default": defaultdict(float, b=1.0),
    "text": {"a": "red", "b": 1.0},
    "too large": {"a": 10**400},
    "list": {"a": [1.0]},
}


def known(sparse):
    """Return a vocabulary with room for two names more."""
    vocabulary = Vocabulary(len(NAMES) + 2, sparse)
    vocabulary.take_up(NAMES)
    return vocabulary


def outcome(call, x):
    """Return the numbers of a row, or the error."""
    try:
        row = call(x)
    except Exception as error:
        return type(error), str(error)
    if not sparse.issparse(row):
        return row.tolist(), row.dtype, row.shape
    parts = row.data, row.indices, row.indptr
    return [part.tolist() for part in parts], [part.dtype for part in parts], row.shape


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("name", SAMPLES)
def test_rows_are_those_of_the_long_way(name, is_sparse, monkeypatch):
    vocabulary, x = known(is_sparse), SAMPLES[name]
    short = repr(outcome(vocabulary.row, x))
    takes_it = vocabulary.known_row(x) is not None

    def no_short_way(_):
        raise TypeError

    monkeypatch.setattr(vocabulary, "_compiled_row", no_short_way)
    assert repr(outcome(vocabulary.row, x)) == short
    assert takes_it == (
        name in ("whole", "backwards", "some", "none", "other numbers", "not finite", "array")
    )


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_row_is_known_if_all_its_names_are(is_sparse):
    assert Vocabulary(None, is_sparse).known_row({}) is None
    vocabulary = known(is_sparse)
    assert vocabulary.known_row({"a": 1.0, "z": 1.0}) is None
    vocabulary.take_up(["z"])
    row = vocabulary.known_row({"a": 1.0, "z": 2.0})
    values = row.toarray()[0] if is_sparse else row
    assert values[[vocabulary.columns[name] for name in "az"]].tolist() == [1.0, 2.0]


def test_rows_share_nothing():
    vocabulary = known(True)
    rows = [vocabulary.row({"a": float(k), "c": 1.0}) for k in range(3)]
    rows[0].data[:] = 9.0
    rows[0].sum_duplicates()
    place = vocabulary.columns["a"]
    assert [row[0, place] for row in rows] == [9.0, 1.0, 2.0]
    assert vocabulary.row({}).nnz == 0
    assert (rows[1] + rows[2]).toarray()[0, place] == 3.0


def test_columns_are_those_of_the_row():
    with pytest.raises(IndexError, match=r"column 7 is not in \[0, 2\)"):
        dense_row({"a": 1.0}, {"a": 7}, 2)
    values, places, starts = sparse_row({"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 5, "c": 1})
    assert (values.tolist(), places.tolist(), starts.tolist()) == ([3.0, 1.0], [1, 5], [0, 2])
    with pytest.raises(TypeError):
        dense_row({"a": "1"}, {"a": 0}, 1)
