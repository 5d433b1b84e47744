"""The C interface: every error gives a code and a message, and leaves the model unchanged."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from consumers.samples import LABELS, LAYOUTS, TWO, address, bytes_of, samples
from scipy import sparse

import onlinekern
from onlinekern import SPAClassifier
from onlinekern.compat import c_interface
from onlinekern.fitted.save import from_bytes, to_bytes


@pytest.fixture
def learnt(verbs, as_matrix):
    """Return a model that has learnt two classes of three features."""
    X, y = samples(60)
    model = verbs.Model.new(b"SPAClassifier", b"gamma=0.4 random_state=7")
    model.set_classes(address(TWO), 2)
    model.learn(as_matrix(X), address(y))
    return model


def test_abi(verbs):
    assert verbs.abi() == verbs.HEADER_ABI


GOOD = b"kernel=laplacian gamma=0.25 random_state=None"
BAD = [
    (b"NoClassifier", b"", "no estimator 'NoClassifier'; there are AROWClassifier"),
    (b"SPAClassifier", b"gama=1", "SPAClassifier has no parameter 'gama'; it has alpha"),
    (b"SPAClassifier", b"gamma=-1", "'gamma' parameter of SPAClassifier must be"),
    (b"SPAClassifier", b"gamma=1 gamma=2", "gamma is given twice"),
    (b"SPAClassifier", b"gamma", "parameters must be 'key=value key=value', got 'gamma'"),
    (b"SPAClassifier", b"gamma=0.4.1", "gamma=0.4.1 is neither"),
    (b"SPAClassifier", b"gamma=", "gamma= is neither"),
    (b"SPAClassifier", b"gamma={[]: 1}", "is neither"),
    (b"SPAClassifier", b"gamma=\xff", "codec"),
    (b"FourierFeatures", b"", "no estimator"),
]


def test_good_parameters(verbs):
    assert verbs.check(b"SPAClassifier", GOOD) is None
    assert c_interface.parameters_of(
        "a=1 b=word c='two words'  d={1: 2.0, -1: [3, None]}\ne=True "
    ) == {
        **{"a": 1, "b": "word", "c": "two words"},
        **{"d": {1: 2.0, -1: [3, None]}, "e": True},
    }
    saved = from_bytes(verbs.Model.new(b"SPAClassifier", GOOD).save(), "it")
    expected = SPAClassifier(kernel="laplacian", gamma=0.25, random_state=None)
    assert saved.get_params() == expected.get_params()


@pytest.mark.parametrize(("name", "parameters", "message"), BAD)
def test_bad_parameters(verbs, name, parameters, message):
    assert message in verbs.check(name, parameters)
    with pytest.raises(verbs.Failure) as caught:
        verbs.Model.new(name, parameters)
    assert message in caught.value.args[1]


def test_null_texts(verbs):
    for texts, message in (((None, b""), "estimator is NULL"), ((b"PA", None), "parameters is")):
        with pytest.raises(verbs.Failure) as caught:
            verbs.Model.new(*texts)
        assert message in caught.value.args[1]


WRONG = {
    "no matrix": (None, "X is NULL"),
    "no values": ({"values": 0}, "the values of X are NULL"),
    "negative rows": ({"n_rows": -1}, "X is of -1 x 3"),
    "negative columns": ({"n_columns": -3}, "X is of 4 x -3"),
    "no rows": ({"n_rows": 0}, "minimum of 1 is required"),
    "too many rows": ({"n_rows": 2**62}, "more than there is memory"),
    "other columns": ({"n_columns": 2}, "features"),
    "no dtype": ({"dtype": 0}, "dtype of X must be"),
    "other dtype": ({"dtype": 2}, "dtype of X must be"),
    "indices alone": ({"indices": address(TWO)}, "indices but no indptr"),
}
SPARSE_WRONG = {
    "column too large": ({"indices": [0, 1, 2, 3]}, "row 3 of X"),
    "negative column": ({"indices": [0, -1, 2, 1]}, "row 1 of X"),
    "descending": ({"indptr": [0, 2, 1, 3, 4]}, "row 1 of X"),
    "negative start": ({"indptr": [-1, 1, 2, 3, 4]}, "row 0 of X"),
    "no indices": ({"indices": None}, "row 0 of X"),
    "no values": ({"values": None}, "row 0 of X"),
}


def assert_refused(verbs, model, X, message, same_state):
    """Assert that every function refuses X and leaves the model unchanged."""
    before = from_bytes(model.save(), "it")
    y, out = np.array([1.0, -1.0, 1.0, -1.0]), np.full(4, 7.0)
    calls = [
        *(lambda verb=verb: verb(X, address(y)) for verb in (model.learn, model.fit)),
        lambda: model.learn(X, address(y), 0, address(out)),
        *(lambda: model.scores(X, address(out), 4), lambda: model.predict(X, address(out))),
    ]
    for call in calls:
        with pytest.raises(verbs.Failure) as caught:
            call()
        assert caught.value.args[0] == 1
        assert message in caught.value.args[1]
    assert (out == 7).all()
    same_state(from_bytes(model.save(), "it"), before)


@pytest.mark.parametrize("case", sorted(set(WRONG) - {"other columns"}))
def test_bad_matrix(verbs, learnt, as_matrix, same_state, case):
    changes, message = WRONG[case]
    X, _ = samples(4)
    bad = None if changes is None else as_matrix(X, **changes)
    assert_refused(verbs, learnt, bad, message, same_state)


@pytest.mark.parametrize("case", SPARSE_WRONG)
def test_bad_sparse_matrix(verbs, learnt, same_state, case):
    changes, message = SPARSE_WRONG[case]
    arrays = {"values": np.ones(4), "indices": [0, 1, 2, 0], "indptr": [0, 1, 2, 3, 4]}
    arrays |= changes
    kept = {
        name: None if array is None else np.asarray(array, float if name == "values" else np.int32)
        for name, array in arrays.items()
    }
    fields = {name: address(array) for name, array in kept.items()}
    bad = verbs.Matrix(n_rows=4, n_columns=3, dtype=8, **fields)
    assert_refused(verbs, learnt, bad, message, same_state)


@pytest.mark.parametrize("field", ["values", "indices", "indptr"])
def test_misaligned_memory(verbs, learnt, as_matrix, same_state, field):
    memory = np.zeros(4 * 3 * 8 + 8, np.uint8)
    bad = as_matrix(sparse.csr_matrix(np.ones((4, 3))), **{field: address(memory[1:])})
    assert_refused(verbs, learnt, bad, "multiple of its elements' size", same_state)


COLUMN = address(np.array([4], np.int32))
BAD_CALLS = {
    "columns": (lambda m, X, y: m.learn(X(n_columns=2), y), "X has 2 features"),
    "columns of one": (lambda m, X, y: m.learn_one(X(n_rows=1, n_columns=2), 1), "2 features"),
    "rows of one": (lambda m, X, y: m.learn_one(X(), 1), "x must be one row, got 4"),
    "label of one": (lambda m, X, y: m.learn_one(X(n_rows=1), 3), "none of the classes"),
    "nan label of one": (lambda m, X, y: m.learn_one(X(n_rows=1), np.nan), "none of the classes"),
    "label": (lambda m, X, y: m.learn(X(), address(np.full(4, 3.0))), "not among the classes"),
    "nan label": (lambda m, X, y: m.learn(X(), address(np.full(4, np.nan))), "NaN"),
    "one label": (lambda m, X, y: m.fit(X(), address(np.ones(4))), "one class only"),
    "no labels": (lambda m, X, y: m.learn(X(), 0), "y is NULL"),
    "no labels to fit": (lambda m, X, y: m.fit(X(), 0), "y is NULL"),
    "misaligned": (lambda m, X, y: m.learn(X(), y + 1), "multiple of its elements' size"),
    "weight": (lambda m, X, y: m.learn(X(), y, address(-np.ones(4))), "weight"),
    "no room": (lambda m, X, y: m.scores(X(), address(np.empty(4)), 3), "has room for 3 numbers"),
    "negative room": (lambda m, X, y: m.scores(X(), y, -1), "the size of scores is negative"),
    "no scores": (lambda m, X, y: m.scores(X(), 0, 4), "scores is NULL"),
    "no predictions": (lambda m, X, y: m.predict(X(), 0), "predictions is NULL"),
    "classes again": (lambda m, X, y: m.set_classes(address(LABELS), 3), "the model has learnt"),
    "one class": (lambda m, X, y: m.set_classes(address(LABELS), 1), "two finite numbers"),
    "no classes": (lambda m, X, y: m.set_classes(0, 2), "classes is NULL"),
    "minus a class": (lambda m, X, y: m.set_classes(y, -2), "the size of classes is negative"),
    "no room for classes": (lambda m, X, y: m.classes(y, 1), "has room for 1 numbers, 2 are"),
    "stored elements": (lambda m, X, y: m.learn_one_sparse(0, y, 1, 3, 8, 1), "columns is NULL"),
    "columns of them": (lambda m, X, y: m.learn_one_sparse(y, 0, 1, 3, 8, 1), "columns is NULL"),
    "minus one": (lambda m, X, y: m.score_one_sparse(y, y, -1, 3, 8, y, 1), "n_stored must be"),
    "too many": (lambda m, X, y: m.learn_one_sparse(y, y, 2**31, 3, 8, 1), "n_stored must be"),
    "far column": (lambda m, X, y: m.learn_one_sparse(y, COLUMN, 1, 3, 8, 1), "row 0 of X"),
    "wide row": (lambda m, X, y: m.score_one_sparse(y, COLUMN, 1, 9, 8, y, 1), "x has 9 features"),
    "dtype of one": (lambda m, X, y: m.learn_one_sparse(y, COLUMN, 1, 9, 2, 1), "dtype of X"),
    "no room for one": (lambda m, X, y: m.scores(X(n_rows=1), y, 0), "has room for 0 numbers"),
    "no score": (lambda m, X, y: m.scores(X(n_rows=1), 0, 1), "scores is NULL"),
    "misaligned score": (lambda m, X, y: m.scores(X(n_rows=1), y + 1, 1), "elements' size"),
    "row of another width": (lambda m, X, y: m.predict(X(n_rows=1, n_columns=2), y), "expecting 3"),
    "no prediction": (lambda m, X, y: m.predict(X(n_rows=1), 0), "predictions is NULL"),
    "nowhere to save": (lambda m, X, y: m.save_nowhere(), "data or size is NULL"),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_bad_call_leaves_the_model(verbs, learnt, as_matrix, same_state, case):
    call, message = BAD_CALLS[case]
    X, y = samples(4)
    before = from_bytes(learnt.save(), "it")
    with pytest.raises(verbs.Failure) as caught:
        call(learnt, lambda **changes: as_matrix(X, **changes), address(y))
    assert caught.value.args[0] == 1
    assert message in caught.value.args[1]
    same_state(from_bytes(learnt.save(), "it"), before)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_no_number(verbs, learnt, as_matrix, same_state, value, layout):
    X, y = samples(4)
    X[0, 1] = value
    X, before = LAYOUTS[layout](X), from_bytes(learnt.save(), "it")
    out = np.empty(4)
    for call in (
        lambda: learnt.learn(as_matrix(X), address(y)),
        lambda: learnt.learn_one(as_matrix(X[:1]), 1),
        lambda: learnt.scores(as_matrix(X), address(out), 4),
        lambda: learnt.scores(as_matrix(X[:1]), address(out), 1),
    ):
        with pytest.raises(verbs.Failure, match=r"NaN|infinity"):
            call()
    same_state(from_bytes(learnt.save(), "it"), before)


def test_divergence_has_a_code(verbs, as_matrix, same_state):
    model = verbs.Model.new(b"OGDRegressor", b"eta=10.0 standardize_target=False")
    X, y = np.full((400, 1), 1e3), np.ones(400)
    model.learn(as_matrix(X[:1]), address(y))
    before = from_bytes(model.save(), "it")
    with pytest.raises(verbs.Failure) as caught:
        model.learn(as_matrix(X), address(y))
    assert caught.value.args[0] == 2
    assert "diverges" in caught.value.args[1]
    same_state(from_bytes(model.save(), "it"), before)


class NoTextError(Exception):
    """What memory that runs out while its text is made leaves of any error."""

    def __str__(self):
        raise MemoryError


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (NoTextError(), 1, "an error of which there is no text"),
        (KeyboardInterrupt(), 4, "KeyboardInterrupt"),
        (MemoryError(), 3, "MemoryError"),
        (RuntimeError("x" + 3000 * "\u00e9"), 1, "x" + 1023 * "\u00e9"),
    ],
)
def test_code_and_message(verbs, learnt, as_matrix, monkeypatch, error, code, message):
    """A long message is cut between two characters."""

    def fail(*arguments):
        raise error

    monkeypatch.setattr(c_interface, "learn", fail)
    X, y = samples(4)
    with pytest.raises(verbs.Failure) as caught:
        learnt.learn(as_matrix(X), address(y))
    assert caught.value.args == (code, message)


def test_null_model(verbs, as_matrix):
    model, (X, y) = verbs.Model.none(), samples(4)
    X, y = as_matrix(X), address(y)
    calls = [
        *(lambda: model.learn(X, y), lambda: model.fit(X, y), lambda: model.learn_one(X, 1)),
        *(lambda: model.scores(X, y, 4), lambda: model.predict(X, y), model.save),
        *(lambda: model.set_classes(y, 2), lambda: model.classes(y, 2)),
    ]
    for call in calls:
        with pytest.raises(verbs.Failure, match="model is NULL"):
            call()
    assert model.counts() == (-1,) * 6


@pytest.mark.parametrize("saved", [b"", b"garbage", pickle.dumps(SPAClassifier())])
def test_garbage_is_no_model(verbs, saved):
    with pytest.raises(verbs.Failure, match="the bytes hold no model"):
        verbs.Model.load(address(bytes_of(saved + b" ")), len(saved))


def test_loading_runs_no_code(verbs, tmp_path):
    class Bomb:
        def __reduce__(self):
            return Path.touch, (tmp_path / "run",)

    saved = pickle.dumps(Bomb())
    with pytest.raises(verbs.Failure, match=r"the bytes hold no model: .* may be a pickle"):
        verbs.Model.load(address(bytes_of(saved)), len(saved))
    assert not list(tmp_path.iterdir())


def test_files_that_are_none(verbs, learnt, tmp_path):
    (tmp_path / "text").write_text("1 1:2\n")
    onlinekern.FourierFeatures().save(tmp_path / "map")
    load, save = verbs.Model.load_file, learnt.save_file
    for call, path, message in [
        (load, None, "path is NULL"),
        (load, bytes(tmp_path / "missing"), "No such file .*missing"),
        (load, bytes(tmp_path / "text"), "text is no safetensors file"),
        (load, bytes(tmp_path / "map"), "no estimator saved, but a FourierFeatures"),
        (save, None, "path is NULL"),
        (save, bytes(tmp_path), "Is a directory"),
        (save, b"/dev/full", "Not a regular file"),
        (verbs.Model.none().save_file, bytes(tmp_path / "new"), "model is NULL"),
    ]:
        with pytest.raises(verbs.Failure, match=message):
            call(path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map", "text"]


def test_truncated_or_missing_bytes(verbs, learnt):
    saved = bytes_of(learnt.save())
    with pytest.raises(verbs.Failure, match="the bytes hold no model"):
        verbs.Model.load(address(saved), len(saved) // 2)
    for place, size in ((0, 5), (address(saved), -1)):
        with pytest.raises(verbs.Failure, match="data is NULL, or its size negative"):
            verbs.Model.load(place, size)


def test_labels_must_be_numbers(verbs):
    X, _ = samples(4)
    saved = to_bytes(SPAClassifier().fit(X, ["a", "b", "a", "b"]))
    with pytest.raises(verbs.Failure, match="labels of this model are no numbers"):
        verbs.Model.load(address(bytes_of(saved)), len(saved))


def test_classes(verbs, learnt):
    labels = np.full(3, np.nan)
    learnt.classes(address(labels), 3)
    assert labels[:2].tolist() == [-1, 1]
    learnt.set_classes(address(TWO), 2)
    unlearnt = verbs.Model.new(b"SPAClassifier")
    assert unlearnt.counts() == (0,) * 6
    unlearnt.set_classes(address(LABELS), 3)
    assert unlearnt.counts() == (0, 0, 0, 0, 0, 3)
    with pytest.raises(verbs.Failure, match="knows no classes"):
        verbs.Model.new(b"SPARegressor").set_classes(address(TWO), 2)


def test_what_a_learner_does_not_do(verbs, as_matrix):
    X, y = samples(4)
    model = verbs.Model.new(b"OLLAClassifier")
    for verb in (
        lambda: model.learn(as_matrix(X), address(y)),
        lambda: model.learn_one(as_matrix(X[:1]), 1),
    ):
        with pytest.raises(verbs.Failure, match="learns no streams: use ok_fit"):
            verb()
    model = verbs.Model.new(b"SPAClassifier")
    with pytest.raises(verbs.Failure, match="call ok_set_classes before"):
        model.learn(as_matrix(X), address(y))
    with pytest.raises(verbs.Failure, match="not fitted"):
        model.scores(as_matrix(X), address(y), 4)
