"""scikit-learn's private names: imported in one place, and replaced there where they lack."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import clone

import onlinekern
from onlinekern import StreamClassifier, TableEncoder, all_estimators, make_stream_pipeline

ROOT = Path(onlinekern.__file__).parent
BAD = [-1, 0, 0.5, 1.5, "spam", None, True, float("nan"), float("inf"), [1], object]


def private_names(path):
    """Return the private names of scikit-learn that a module imports."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    parts = (name.split(".") for name in found if name.split(".")[0] == "sklearn")
    return [".".join(names) for names in parts if any(name.startswith("_") for name in names)]


def test_they_are_imported_in_one_place():
    where = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py") if private_names(path)}
    assert where == {"_scikit_learn.py"}


def complaints():
    """Return what each estimator says of each bad parameter: class -> {name=value: message}."""
    found = {}
    for name, cls in all_estimators():
        said = found.setdefault(name, {})
        for parameter in cls._parameter_constraints:
            for value in BAD:
                key = f"{parameter}={value!r}".partition(" at ")[0]
                try:
                    cls(**{parameter: value})._validate_params()
                except (ValueError, TypeError) as error:
                    # The texts of a set come in any order.
                    words = sorted(re.findall(r"[^\s,{}]+", str(error).partition(" at 0x")[0]))
                    said[key] = [type(error).__name__, *words]
    return found


SCRIPT = """
import sys, types, json
import sklearn.base, sklearn.pipeline, sklearn.utils.estimator_checks, sklearn.linear_model
del sklearn.base.BaseEstimator._validate_params
sys.modules["sklearn.utils._param_validation"] = types.ModuleType("without what is private")
sys.path.insert(0, {folder!r})
import onlinekern
from onlinekern import _scikit_learn
assert _scikit_learn.Interval.__module__ == "onlinekern._parameters"
from test_private_names import complaints
print(json.dumps(complaints()))
from sklearn.datasets import load_digits
X, y = load_digits(return_X_y=True)
model = onlinekern.SPAClassifier(gamma=0.001)
assert model.partial_fit(X, y, classes=range(10)).score(X, y) > 0.9
"""


def test_without_them_parameters_are_checked_alike(monkeypatch):
    code = SCRIPT.format(folder=str(Path(__file__).parent))
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    without, with_them = json.loads(done.stdout), json.loads(json.dumps(complaints()))
    flat = [
        {(name, key): words for name, said in found.items() for key, words in said.items()}
        for found in (with_them, without)
    ]
    differing = {
        key for key in flat[0].keys() | flat[1].keys() if flat[0].get(key) != flat[1].get(key)
    }
    assert not differing, [[found.get(key) for found in flat] for key in sorted(differing)[:3]]
    assert sum(map(len, with_them.values())) > 1000


def test_pictures_of_estimators_link_to_the_site():
    shown = make_stream_pipeline(TableEncoder(), StreamClassifier())._repr_html_()
    for name in ("StreamPipeline", "TableEncoder", "StreamClassifier"):
        assert f"https://onlinekern.github.io/onlinekern/generated/onlinekern.{name}.html" in shown


@pytest.mark.parametrize(("name", "cls"), all_estimators())
def test_each_estimator_has_a_link(name, cls):
    assert clone(cls())._get_doc_link().endswith(f"/onlinekern.{name}.html")
