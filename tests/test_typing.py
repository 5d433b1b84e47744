"""What type checkers say of a user's program: that names are misspelt, and nothing else."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import onlinekern

HERE = Path(__file__).parents[1]
# The folder of a library that is not installed, which type checkers do not find by themselves.
FOLDER = Path(onlinekern.__file__).parents[1]
ADDED = [str(FOLDER)] if (FOLDER / "pyproject.toml").exists() else []
RIGHT = '''\
"""A user's program: every line is right."""

import numpy as np

from onlinekern import (
    BOGDRegressor,
    FOGDClassifier,
    KernelMeanDetector,
    OLLAClassifier,
    OnlineStandardScaler,
    PAClassifier,
    SPAClassifier,
    StreamClassifier,
    load,
    make_stream_pipeline,
)
from onlinekern.evaluate import PrequentialResult, prequential
from onlinekern.plotting import PrequentialDisplay
from onlinekern.reports import report_html

X = np.random.default_rng(0).standard_normal((100, 3))
y = X[:, 0] > 0
model = SPAClassifier(eta=2, gamma=0.5, kernel="laplacian", average=True, random_state=0)
model.partial_fit(X, y, classes=[False, True]).fit(X, y)
print(model.score(X, y), model.predict(X)[:3], model.classes_, model.n_features_in_)
regressor = BOGDRegressor(loss="huber", cap=None, budget=20, standardize_target=False)
print(regressor.fit(X, X[:, 1]).score(X, X[:, 1]), regressor.target_mean_ + 1.0)
print(FOGDClassifier(frequencies="orthogonal").get_params(), FOGDClassifier(window=None))
print(KernelMeanDetector(statistic="leverage").fit(X).predict(X).mean())
print(OLLAClassifier(solver="smo", probability=True).fit(X, y).predict_proba(X).sum())
linear = PAClassifier(max_iter=5, tol=None, class_weight={True: 2.0}).fit(X, y)
linear.export_c("m.c", dtype="float32")
model.fit([{"a": 1.0, "b": "x"}, {"a": None, "b": "y"}] * 9, [True, False] * 9)
print(model.learn_one({"a": 1.0, "b": "x"}, True).score_one({"a": None, "b": "x"}))
model = SPAClassifier(gamma=0.5).fit(X, y)
pipeline = make_stream_pipeline(OnlineStandardScaler(clip=3.0), model.set_params(eta=0.5))
pipeline.partial_fit(X, y).save("m.okn")
print(load("m.okn").score_one(X[0]), model.learn_one(X[0], True).score_one(X[0]))


def watch(result: PrequentialResult) -> None:
    print(result.n_samples, result.curves["error"][-1])


race = StreamClassifier(random_state=0, verbose=1).fit(X, y)
print(race.encoder_ if race.encode is True else None, prequential(pipeline, [(X, y)]).error)
result = prequential(race, [(X, y)], [False, True], window=50, watch=watch)
display = PrequentialDisplay.from_stream(race, X, y, window=50, live=True).update(result)
page: str = report_html(race, "model.html", result=display.result, window=50)
'''
WRONG = """\
from onlinekern import SPAClassifier

SPAClassifier(gama=1)
m = SPAClassifier(when_full="stop")
m.predit([[0.0]])
SPAClassifier(when_full="newest")
"""
# Lines of WRONG, and what is wrong with them.
ERRORS = {3: "gama", 5: "predit", 6: "newest"}


def checked_by_mypy(folder):
    """Return file name -> {line: message} of what mypy finds."""
    # Of a library that is not installed, the cache of the linters is used. The program alone is
    # judged: a library on MYPYPATH is a user's code to mypy, unlike one in site-packages.
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary"]
    command += ["--follow-imports=silent"]
    command += [f"--cache-dir={HERE / '.mypy_cache'}", "right.py", "wrong.py"]
    paths = {"MYPYPATH": os.pathsep.join(ADDED)}
    process = subprocess.run(
        command, cwd=folder, env=os.environ | paths, capture_output=True, text=True, check=False
    )
    assert process.returncode in (0, 1), process.stdout + process.stderr
    found = re.findall(r"^(?:.*/)?(\w+)\.py:(\d+): error: (.*)$", process.stdout, re.M)
    return by_file((name, int(line), message) for name, line, message in found)


def checked_by_pyright(folder):
    """Return file name -> {line: message} of what pyright finds."""
    settings = {"extraPaths": ADDED, "typeCheckingMode": "standard"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    process = subprocess.run(
        [*command, "right.py", "wrong.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    if process.returncode not in (0, 1) or not process.stdout.startswith("{"):
        pytest.skip(f"pyright does not run: {(process.stdout + process.stderr)[-200:]}")
    found = json.loads(process.stdout)["generalDiagnostics"]
    return by_file(
        (Path(one["file"]).stem, one["range"]["start"]["line"] + 1, one["message"])
        for one in found
        if one["severity"] == "error"
    )


def by_file(found):
    """Return file name -> {line: message}."""
    errors = {"right": {}, "wrong": {}}
    for name, line, message in found:
        errors[name][line] = message
    return errors


@pytest.mark.parametrize("checker", [checked_by_mypy, checked_by_pyright])
def test_a_user_s_program(checker, tmp_path):
    name = checker.__name__.rpartition("_")[2]
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    errors = checker(tmp_path)
    assert errors["right"] == {}
    assert errors["wrong"].keys() == ERRORS.keys()
    for line, word in ERRORS.items():
        assert word in errors["wrong"][line]


def test_the_program_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(RIGHT, "right.py", "exec"), {})
