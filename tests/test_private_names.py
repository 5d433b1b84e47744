"""scikit-learn's private names: imported in one place."""

import ast
from pathlib import Path

import pytest
from sklearn.base import clone

import onlinekern
from onlinekern import StreamClassifier, TableEncoder, all_estimators, make_stream_pipeline

ROOT = Path(onlinekern.__file__).parent


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
    assert where == {"estimators/scikit_learn.py"}


def test_pictures_of_estimators_link_to_the_site():
    shown = make_stream_pipeline(TableEncoder(), StreamClassifier())._repr_html_()
    for name in ("StreamPipeline", "TableEncoder", "StreamClassifier"):
        assert f"https://onlinekern.github.io/onlinekern/generated/onlinekern.{name}.html" in shown


@pytest.mark.parametrize(("name", "cls"), all_estimators())
def test_each_estimator_has_a_link(name, cls):
    assert clone(cls())._get_doc_link().endswith(f"/onlinekern.{name}.html")
