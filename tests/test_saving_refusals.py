"""What cannot be saved is refused by name, and nothing is written."""

import math
import pickle
import struct

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import onlinekern
from onlinekern import PAClassifier, SPAClassifier, SPARegressor


class Mine(SPAClassifier):
    """A user's subclass."""


class SPAClassifierElsewhere:
    pass


SPAClassifierElsewhere.__name__ = "SPAClassifier"


def nan_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


VALUES = {
    "none": None,
    "true": True,
    "negative zero": -0.0,
    "smallest": 5e-324,
    "infinity": -math.inf,
    "a nan with a payload": nan_of(0xFFF8000000000123),
    "long": -(3**400),
    "at the limit of doubles": 2**53 + 1,
    "surrogate": "\ud800 and \U0001f600 \x00",
    "tuple": (1, (2.5, "x"), ()),
    "dict": {None: 1, (1, "a"): 2, -0.5: [3, {}], np.int8(4): "int8", math.inf: 0, 7: 1},
    "bools": np.array([True, False]),
    "half": np.array([1.5, np.nan], dtype=np.float16),
    "empty": np.zeros((3, 0, 2), dtype=np.int16),
    "no axis": np.array(3.5),
    "by columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "with gaps": np.arange(10)[::3],
    "big-endian": np.array([1, 2], dtype=">u2"),
    "text": np.array([["a", "äöü"], ["", "\U0001f600"]]),
    "text without letters": np.array(["", ""], dtype="<U0"),
    "bytes": np.array([b"ab", b"c"]),
    "not a time": np.array(["NaT", "2020-01-01T00:00:00.123"], dtype="M8[ms]"),
    "steps of time": np.array([3, 4], dtype="m8[25s]"),
    "objects": np.array([["a", None], [np.float32(1.5), 2**70]], dtype=object),
    "float32": np.float32(0.1),
    "numpy text": np.str_("ä"),
    "numpy bool": np.bool_(True),
    "a day": np.datetime64("2020-01-01"),
    "dtype": np.dtype(">i4"),
    "class": np.float32,
}


def same(one, other):
    """Whether two values are the same to the bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return same(list(one.items()), list(other.items()))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray) and one.dtype == object:
        return one.shape == other.shape and same(one.ravel().tolist(), other.ravel().tolist())
    if isinstance(one, np.ndarray):
        alike = one.flags.f_contiguous == other.flags.f_contiguous or not other.flags.forc
        return alike and (one.dtype, one.shape, one.tobytes()) == (
            other.dtype,
            other.shape,
            other.tobytes(),
        )
    if isinstance(one, float) and not isinstance(one, np.generic):
        return struct.pack("<d", one) == struct.pack("<d", other)
    if isinstance(one, np.generic):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return one == other


@pytest.mark.parametrize("kind", VALUES)
def test_values_are_the_same_to_the_bit(kind, tmp_path):
    SPARegressor(random_state=[VALUES[kind]]).save(tmp_path / "m.okn")
    assert same(onlinekern.load(tmp_path / "m.okn").random_state, [VALUES[kind]])


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.int64(3), 3),
        (np.float64(0.1), 0.1),
        (np.float32(0.1), float(np.float32(0.1))),
        (np.str_("ä"), "ä"),
        (np.bool_(True), True),
        ({np.int64(7): np.float64(2.5), np.str_("a"): 1}, {7: 2.5, "a": 1}),
        (np.datetime64("2020-01-01"), np.datetime64("2020-01-01")),
    ],
)
def test_parameters_become_numbers_that_every_reader_knows(given, kept, tmp_path):
    model = SPARegressor(random_state=given)
    model.save(tmp_path / "m.okn")
    assert same(onlinekern.load(tmp_path / "m.okn").random_state, kept)
    assert model.random_state is given


def test_arrays_belong_to_the_loaded_model(tmp_path):
    SPARegressor(random_state=np.arange(3.0)).save(tmp_path / "m.okn")
    array = onlinekern.load(tmp_path / "m.okn").random_state
    array[0] = 5  # it can be written to
    assert array.flags.aligned


@pytest.mark.parametrize("bits", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
@pytest.mark.parametrize("cls", [np.random.RandomState, np.random.Generator])
def test_generators_go_on(cls, bits, tmp_path):
    draws = cls(getattr(np.random, bits)(5))
    draws.standard_normal(3)
    if cls is np.random.Generator:
        draws.spawn(1)
        draws.integers(7, dtype=np.int32)  # half of a 64-bit number is left
    else:
        draws.randn()
    PAClassifier(random_state=draws).save(tmp_path / "m.okn")
    loaded = onlinekern.load(tmp_path / "m.okn").random_state
    assert type(loaded) is cls
    if cls is np.random.Generator:
        assert loaded.integers(1 << 20, dtype=np.int32) == draws.integers(1 << 20, dtype=np.int32)
        assert loaded.spawn(1)[0].random() == draws.spawn(1)[0].random()
    np.testing.assert_array_equal(loaded.standard_normal(5), draws.standard_normal(5))


def circle():
    items = [1]
    items.append({"deeper": items})
    return items


def deep():
    items = []
    for _ in range(5000):
        items = [items]
    return items


REFUSED = {
    "function": (len, TypeError, "random_state of this SPARegressor is an object"),
    "lambda": (lambda: None, TypeError, "random_state of .* is an object builtins.function"),
    "inside": ({"a": [1, {2, 3}]}, TypeError, r"random_state.a.1 of .* is an object builtins.set"),
    "class": (SPAClassifier, TypeError, "random_state of .* is the class .*SPAClassifier"),
    "module": (math, TypeError, "random_state of .* is an object builtins.module"),
    "pipeline": (
        make_pipeline(None),
        TypeError,
        "random_state of .* is an object sklearn.pipeline",
    ),
    "fraction": (np.longdouble(1), TypeError, "random_state of .*: elements of the dtype"),
    "complex": (np.array([1j]), TypeError, "random_state of .*: elements of the dtype complex128"),
    "fields": (np.zeros(2, dtype="i4,f8"), TypeError, "random_state of .*: elements of the dtype"),
    "subclass": (Mine(), TypeError, "random_state of .* is an object .*test_saving_refusals.Mine"),
    "namesake": (SPAClassifierElsewhere(), TypeError, "random_state of .* is an object"),
    "object in an array": (np.array([len], dtype=object), TypeError, "random_state.0 of .* is an"),
    "circle": (circle(), ValueError, "random_state.1.deeper of .* refers to itself"),
    "deep": (deep(), ValueError, "is nested too deep"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_saved_is_named(kind, tmp_path):
    value, error, message = REFUSED[kind]
    (tmp_path / "old.okn").write_bytes(b"old")
    for name in ("new.okn", "old.okn"):
        with pytest.raises(error, match=message):
            SPARegressor(random_state=value).save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["old.okn"]
    assert (tmp_path / "old.okn").read_bytes() == b"old"


def test_a_subclass_is_pickled_instead(tmp_path):
    X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
    model = Mine(gamma=0.5).fit(X, y)
    with pytest.raises(TypeError, match=r"test_saving_refusals\.Mine .* pickle"):
        model.save(tmp_path / "m.okn")
    assert list(tmp_path.iterdir()) == []
    assert type(pickle.loads(pickle.dumps(model))) is Mine


def test_a_rule_of_the_user_is_named(tmp_path):
    from onlinekern.core.learning.rules import Perceptron

    class Rule(Perceptron):
        pass

    model = PAClassifier().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    model._model.rule = Rule()
    with pytest.raises(
        TypeError,
        match=r"_model\.0\.2 of this PAClassifier is an object .*Rule",
    ):
        model.save(tmp_path / "m.okn")
    assert list(tmp_path.iterdir()) == []
