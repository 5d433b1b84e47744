"""Blocks that are cut anew hold the rows that they should, and end where they should."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from onlinekern.streams import StreamError
from onlinekern.streams.blocks import in_blocks

FORMS = {
    "array": (lambda X: X, np.asarray),
    "csr": (sparse.csr_matrix, lambda X: X.toarray()),
}


@given(
    lengths=st.lists(st.integers(0, 12), max_size=6),
    rows=st.integers(1, 9),
    skip=st.integers(0, 20),
    limit=st.none() | st.integers(1, 40),
    join=st.booleans(),
    form=st.sampled_from(list(FORMS)),
)
@settings(max_examples=400, deadline=None)
def test_rows_and_ends(lengths, rows, skip, limit, join, form):
    make, back = FORMS[form]
    total = sum(lengths)
    X, y = np.arange(2.0 * total).reshape(-1, 2), np.arange(total)
    ends = np.cumsum([0, *lengths])
    blocks = [(make(X[a:b]), y[a:b], None) for a, b in pairwise(ends)]
    stop = total if limit is None else min(total, limit)
    found = in_blocks(iter(blocks), rows, skip=skip, limit=limit, join=join)
    if skip > stop:
        with pytest.raises(StreamError, match=f"before row {skip}"):
            list(found)
        return
    found = list(found)
    assert [weights for *_, weights in found] == [None] * len(found)
    np.testing.assert_array_equal(np.concatenate([y[:0], *(b[1] for b in found)]), y[skip:stop])
    kept = [back(block[0]) for block in found]
    np.testing.assert_array_equal(np.concatenate([X[:0], *kept]), X[skip:stop])
    # Whatever the blocks were, they end at the multiples; without `join`, where they ended too.
    cuts = {*range(0, total, rows), stop} | (set() if join else set(ends.tolist()))
    assert [int(b[1][-1]) + 1 for b in found] == sorted(c for c in cuts if skip < c <= stop)


def test_no_block_is_asked_for_after_the_limit():
    def blocks():
        yield np.zeros((3, 1)), np.zeros(3)
        raise AssertionError("this block is not needed")

    assert [len(y) for _, y in in_blocks(blocks(), 2, limit=3, join=True)] == [2, 1]


def test_blocks_of_other_columns_are_not_joined():
    pa = pytest.importorskip("pyarrow")
    batches = [pa.record_batch({"a": values}) for values in ([1, 2], [3], [0.5], [1.5])]
    found = list(in_blocks(((b, np.zeros(len(b))) for b in batches), 10, join=True))
    assert [X.to_pydict() for X, _ in found] == [{"a": [1, 2, 3]}, {"a": [0.5, 1.5]}]


def test_data_frames_are_cut():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": range(5)}, index=list("vwxyz"))
    found = list(in_blocks([(frame, frame["a"].to_numpy())], 2, skip=1))
    assert [X.index.tolist() for X, _ in found] == [["w"], ["x", "y"], ["z"]]
