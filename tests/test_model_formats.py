"""Model files of every released format are loaded, for ever: `tests/models/make.py` made them."""

import json
import warnings
from pathlib import Path

import pytest
from models import make
from sklearn.exceptions import ConvergenceWarning

import onlinekern
from onlinekern.fitted.save.model_file import FORMAT

FILES = sorted((Path(__file__).parent / "models").glob("format*/*.okn"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_old_file_is_loaded_and_goes_on(path, close):
    said = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    if said["layout"] == "table":
        pytest.importorskip("pyarrow")
    model = onlinekern.load(path)
    for name, value in said["parameters"].items():
        assert repr(model.get_params()[name]).split(" at ")[0] == value.split(" at ")[0], name
    if "answers" not in said:
        return
    labels = None if said["labels"] is None else model.classes_.tolist()
    assert said["labels"] is None or sorted(said["labels"]) == sorted(map(str, labels))
    named = {str(label): label for label in labels or ()}
    X, y = make.samples(labels and [named[text] for text in said["labels"]], said["layout"])
    dtype = getattr(X, "dtype", float)
    close(make.answers(model, X[make.LEARNT :]), said["answers"], dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        make.learn(model, X[make.LEARNT :], y[make.LEARNT :], labels)
    close(make.answers(model, X[: make.LEARNT]), said["later"], dtype)


def test_there_are_small_files_of_every_format():
    formats = {path.parent.name for path in FILES}
    assert formats == {f"format{number}" for number in range(1, FORMAT + 1)}
    assert {path.stem for path in FILES} == set(make.CASES)
    assert max(path.stat().st_size for path in FILES) < 20_000
