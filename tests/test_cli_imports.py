"""What the commands load: no package and no room that they do not use."""

from functools import cache

import numpy as np
import pytest
from interpreters import python
from versions import is_older

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")

from onlinekern.cli.app import COMMANDS

CODE = """
import sys
from onlinekern.cli import main
try:
    main(sys.argv[1:])
finally:
    ours = [module for name, module in sys.modules.items() if name.startswith("onlinekern")]
    files = [file for module in ours if (file := module.__file__ or "").endswith(".py")]
    print(len(files), *sys.modules, file=sys.stderr)
"""
COMPUTING = ["numpy", "scipy", "sklearn", "pyarrow", "matplotlib"]
# Old versions import the package, which is nearly empty, and all of it for options of a command.
OLD = is_older("typer", "0.22")
RICH = "rich.console" if OLD else "rich"
DRAWING = ["matplotlib.figure", "onlinekern.plotting", "onlinekern.reports.page"]
COMPARING = [
    "scipy.signal", "onlinekern.cli.compare", "onlinekern.cli.comparing",
    "onlinekern.evaluate.comparing", "onlinekern.evaluate.search",
    "onlinekern.evaluate.test_then_train", "onlinekern.reports.tables",
]  # fmt: skip
KEEPING = [f"onlinekern.streams.{name}" for name in ("generators", "source", "buffer", "layout")]
SERVING = ["starlette", "uvicorn", "onlinekern.serve"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imports")
    X = np.random.default_rng(0).normal(size=(100, 2))
    lines = [f"{a!r},{b!r},{'yes' if a * b > 0 else 'no'}" for a, b in X.tolist()]
    (folder / "rows.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    loaded(folder, "train", "rows.csv", "--target", "y", "-o", "model.okn")
    return folder


@cache
def loaded(folder, *arguments):
    """Run a command in a process of its own; return its number of files, and its modules."""
    done = python(CODE, *arguments, cwd=folder, env={"COLUMNS": "80"}, check=True)
    count, *modules = done.stderr.split()
    return int(count), set(modules)


@pytest.mark.parametrize(
    ("arguments", "most", "absent"),
    [
        (["--help"], 8, [*COMPUTING, RICH, *(f"onlinekern.cli.{name}" for name in COMMANDS)]),
        (["info"], 25, ["sklearn", "scipy.signal", "matplotlib", "pyarrow", *COMPARING]),
        (["info", "model.okn"], 128, [*DRAWING, *COMPARING, *KEEPING, *SERVING]),
        (
            ["predict", "model.okn", "rows.csv", "--target", "y"], 146,
            [*DRAWING, *COMPARING, *KEEPING, *SERVING, "onlinekern.evaluate"],
        ),
        (
            ["train", "rows.csv", "--target", "y", "-o", "model.okn"], 157,
            [*DRAWING, *COMPARING, *KEEPING, *SERVING, "onlinekern.reports.record"],
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)  # fmt: skip
def test_a_command_loads_what_it_uses(folder, arguments, most, absent):
    count, modules = loaded(folder, *arguments)
    assert not modules & set(absent)
    assert 0 < count <= most


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_computes_nothing(folder, name):
    count, modules = loaded(folder, name, "--help")
    assert not modules & {*COMPUTING, *([] if OLD else [RICH])}
    own = {module for module in modules if module.startswith("onlinekern.cli.")}
    assert own & {f"onlinekern.cli.{other}" for other in COMMANDS} == {f"onlinekern.cli.{name}"}
    assert 0 < count <= 14
