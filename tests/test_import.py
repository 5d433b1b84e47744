"""What an import loads, which names it gives, and what it says in the source folder."""

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import onlinekern

SOURCE = Path(__file__).parents[1] / "onlinekern"
OPTIONAL = {
    "typer", "rich", "matplotlib", "pyarrow", "river", "starlette", "uvicorn", "dask",
    "distributed", "onnx", "pyflink", "pyspark", "ray",
}  # fmt: skip


def python(code, **options):
    """Run code in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, **options
    )


@cache
def modules_after(statement):
    """Return the modules that a statement imports beyond scikit-learn's own."""
    code = (
        "import sys, sklearn.pipeline, sklearn.utils.validation\n"
        f"theirs = set(sys.modules)\n{statement}\nprint(*(set(sys.modules) - theirs))"
    )
    with tempfile.TemporaryDirectory() as folder:
        process = python(code, cwd=folder)
    assert process.returncode == 0, process.stderr
    return set(process.stdout.split())


def test_one_estimator_loads_no_other():
    loaded = modules_after("from onlinekern import ForgetronClassifier")
    families = {name for name in loaded if name.startswith("onlinekern.learners.")}
    assert families == {"onlinekern.learners.budgeted"}
    assert not loaded & {"onlinekern.cli", "onlinekern.evaluate", "onlinekern.streams"}
    assert not {name.partition(".")[0] for name in loaded} & OPTIONAL


def test_what_saves_is_loaded_late():
    loaded = modules_after("from onlinekern import PAClassifier, load")
    fitted = {name for name in loaded if name.startswith("onlinekern.fitted.")}
    assert fitted == {"onlinekern.fitted.save"}


@pytest.mark.parametrize("module", ["sklearn.metrics", "sklearn.model_selection"])
def test_passes_load_the_stopping_rules_late(module):
    assert module not in modules_after("from onlinekern import PAClassifier, load")


def test_import_needs_no_optional_package():
    loaded = modules_after("import onlinekern; onlinekern.all_estimators()")
    assert "onlinekern.learners.spa" in loaded
    assert not {name.partition(".")[0] for name in loaded} & OPTIONAL


def test_names():
    assert set(onlinekern.__all__) < set(dir(onlinekern))
    assert onlinekern.SPAClassifier is import_module("onlinekern.learners.spa").SPAClassifier
    assert onlinekern.streams is import_module("onlinekern.streams")
    with pytest.raises(AttributeError, match="SPA"):
        onlinekern.SPA  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'SPA'"):
        exec("from onlinekern import SPA")


def test_the_list_of_public_names_is_true():
    stub = Path(onlinekern.__file__).with_suffix(".pyi")
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                assert alias.name == alias.asname, "type checkers take it for private"
                value = getattr(onlinekern, alias.name)
                if node.module:
                    assert value.__module__ == f"onlinekern.{node.module}"


@pytest.mark.parametrize(
    "code",
    [
        "from onlinekern import SPAClassifier",
        "import onlinekern.preprocessing.kernel_features",
        "import onlinekern; onlinekern.show_config()",
        "from onlinekern.cli import main; main(['methods', 'spa'])",
    ],
)
def test_source_folder_says_what_to_do(code, tmp_path):
    """Python that is started in the clone finds the source folder before the installed package."""
    shutil.copytree(SOURCE, tmp_path / "onlinekern")
    free = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    process = python(code, cwd=tmp_path, env=free)
    if process.returncode == 0:
        pytest.skip("an editable install, which is found before the folder")
    (*_, last) = process.stderr.splitlines()
    assert "ImportError: " in last or last.startswith("onlinekern: error: ")
    assert str(tmp_path / "onlinekern") in last
    assert "install it (pip install .) and start Python in another folder" in last
