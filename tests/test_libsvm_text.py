"""The parser of LIBSVM text: the numbers of Python, the rows of scikit-learn, and nothing else."""

import io
import random
import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from onlinekern.core.samples.text import parse_libsvm
from onlinekern.streams.formats import libsvm as readers

FORMS = ["{!r}", "{:.3f}", "{:.17g}", "{:e}", "{:E}", "{:.20f}", "{:g}", "{:.25e}", "{:+.4f}"]
BLANKS = [" ", "\t", "  ", " \v", "\f "]
NOT_TEXT = [
    b"1 1:2 1:3\n", b"1 2:2 1:3\n", b"1 1:\n", b"x 1:2\n", b"1 1:2x\n", b"1 1_0:2\n", b"1 1:1_0\n",
    b"1 1:1e999\n", b"1 1:nan\n", b"inf 1:1\n", b"1 qid:x 1:2\n", b"1 qid: 1:2", b"1 1:2\x00 3:4\n",
    b"1 2147483647:1\n", b"1 99999999999999999999999:1\n", b"1 :2", b"1 1:1e", b"1 1:.", b"1 1:-",
    b"+ 1:2", b"1 1:2:3", b"1 +1:2", b"1 -1:2", b"1,2 1:2", b"1 1 2", b"1:2", b"1 1:0x1p3",
    b"1 1:1e+", b"1q 1:2", b"1 1:2 qid:3", b"\x00\n", b"1 1:\xef\xbc\x91",
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False),
                          st.sampled_from(FORMS)), max_size=30))  # fmt: skip
def test_numbers_are_pythons(numbers):
    texts = [form.format(value) for value, form in numbers]
    finite = [text for text in texts if np.isfinite(float(text))]
    _, values, _, _ = parse_libsvm("".join(f"1 3:{text}\n" for text in finite).encode())
    expected = np.array([float(text) for text in finite])
    assert values.tobytes() == expected.tobytes()  # -0.0 too


@pytest.mark.parametrize("seed", range(4))
def test_many_digits_and_numbers_half_way_between_two_doubles(seed):
    rng, texts = random.Random(seed), []
    for _ in range(5000):
        digits = rng.getrandbits(rng.randrange(1, 64))
        texts.append(f"{'-' * rng.randrange(2)}{digits}e{rng.randrange(-80, 80)}")
        # 54 bits, of which a double keeps 53, times powers of two and of ten that cancel in part.
        half = (rng.getrandbits(53) | 1 << 53 | 1) * 2 ** rng.randrange(-9, 9)
        texts.append(f"{Decimal(half)}" if half >= 2**54 else f"{Decimal(half):.{9}f}")
        texts.append(f"{int(half) + rng.randrange(-1, 2)}.{rng.randrange(10**6):06d}")
    _, values, _, _ = parse_libsvm("".join(f"1 3:{text}\n" for text in texts).encode())
    assert values.tobytes() == np.array([float(text) for text in texts]).tobytes()


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="0123456789.eE+-", min_size=1, max_size=40))
def test_what_is_a_number_is_what_python_reads(text):
    try:
        expected = float(text)
    except ValueError:
        expected = np.inf
    parsed = parse_libsvm(f"{text} 1:1".encode())
    if not np.isfinite(expected):
        assert parsed is None
        return
    assert parsed[0].tobytes() == np.array([expected]).tobytes()


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_scikit_learns(seed):
    rng = random.Random(seed)
    lines = []
    for _ in range(300):
        columns = sorted(rng.sample(range(50), rng.randrange(20)))
        label = rng.choice(["1", "-1", "+1", "2.5", "1e-3"])
        words = [label, *([f"qid:{rng.randrange(9)}"] if rng.random() < 0.2 else [])]
        words += [f"{j}:{rng.gauss(0, 1):.{rng.randrange(1, 18)}g}" for j in columns]
        blank = rng.choice(BLANKS)
        comment = "# 1:2 note" if rng.random() < 0.2 else ""
        lines.append(blank.join(words) + blank * rng.randrange(2) + comment)
        lines += [""] * rng.randrange(2) + ["# why"] * rng.randrange(2)
    text = "\n".join(lines).encode() + b"\r\n" * rng.randrange(2)
    labels, values, columns, starts = parse_libsvm(text)
    X, y = load_svmlight_file(io.BytesIO(text), zero_based=True)
    for actual, expected in ((labels, y), (values, X.data), (columns, X.indices)):
        np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(starts, X.indptr)


@pytest.mark.parametrize("text", NOT_TEXT)
def test_what_is_no_libsvm_text_is_refused_and_named(text, tmp_path):
    assert parse_libsvm(text) is None
    assert parse_libsvm(b"1 1:2\n" + text + b"\n1 1:2\n") is None
    path = tmp_path / "a"
    path.write_bytes(b"1 1:2\n" + text)
    with pytest.raises(readers.StreamError, match=re.escape(f"{path}, line 2: ")):
        list(readers.LibsvmReader(path).blocks())


@pytest.mark.parametrize("text", [b"", b"\n\n", b"# x", b" \t\r\n", b"#\x00\n"])
def test_no_rows(text):
    labels, values, columns, starts = parse_libsvm(text)
    assert (len(labels), len(values), len(columns), starts.tolist()) == (0, 0, 0, [0])
