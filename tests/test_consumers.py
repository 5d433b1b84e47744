"""Programs and packages built on the installed library, and the examples of docs/c_api.md."""

import pickle
import re
from pathlib import Path

import consumers
import numpy as np
import pytest

from onlinekern import KernelOGDClassifier, SPAClassifier
from onlinekern.core import LOSSES, RULES, SCHEDULES

PAGE = Path(__file__).parents[1] / "docs" / "c_api.md"
SOURCE = {"c": r"`(\w+\.c)`", "cython": r"`(\w+\.pyx)`"}


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    return consumers.build_extension("foreign", tmp_path_factory.mktemp("foreign"))


def test_plain_c_program(tmp_path, equal):
    program = consumers.build_program(consumers.HERE / "embedding.c", tmp_path)
    lines = [line.split(" ", 1) for line in consumers.run([str(program)], tmp_path).splitlines()]
    assert [key for key, _ in lines] == ["counts", "error", "scores"] * 2
    i, j = np.arange(400)[:, None], np.arange(3)
    X = (i * (7 + 6 * j) * 31 + j * 5) % 17 / 8 - 1
    y = np.where(X[:, 0] * X[:, 1] > 0, 4.0, -2.0)
    for dtype, (counts, error, scores) in zip(
        (np.float64, np.float32), (lines[:3], lines[3:]), strict=True
    ):
        twin = SPAClassifier(gamma=2, beta=5, random_state=3)
        rows = X.astype(dtype)
        twin.partial_fit(rows, y, classes=[-2, 4])
        assert 10 < twin.n_support_ < twin.n_seen_
        assert counts[1] == f"{twin.n_seen_} {twin.n_mistakes_} {twin.n_support_}"
        assert "X has 2 features, but SPAClassifier is expecting 3" in error[1]
        equal(
            np.array([float.fromhex(score) for score in scores[1].split()]),
            twin.decision_function(rows[:20]),
        )


def test_foreign_loss_in_our_loop(foreign, stream, same_state):
    """The loss of a compiled package replaces a loss of the library."""

    class Tilting(KernelOGDClassifier):
        tilt = 1.0

        def _rule(self):
            loss = foreign.Tilted(self.tilt)
            return RULES["gradient"](loss, SCHEDULES["constant"](self.eta), self.reg)

    X, y = stream("binary", n=200)
    ours = KernelOGDClassifier(gamma=0.4, random_state=7).partial_fit(X, y, classes=["no", "yes"])
    theirs = Tilting(gamma=0.4, random_state=7).partial_fit(X, y, classes=["no", "yes"])
    same_state(theirs, ours)
    Tilting.tilt = 5.0
    tilted = Tilting(gamma=0.4, random_state=7).partial_fit(X, y, classes=["no", "yes"])
    assert (tilted.predict(X) == "yes").sum() > (ours.predict(X) == "yes").sum()
    assert pickle.loads(pickle.dumps(tilted._model.rule)) == tilted._model.rule


def test_foreign_rule_in_our_loop(foreign):
    """The first steps of a rule of a compiled package, computed by hand."""

    class Patient(KernelOGDClassifier):
        def _rule(self):
            return foreign.Halving(LOSSES["hinge"]())

    X = 100.0 * np.eye(6)
    model = Patient(gamma=1.0).partial_fit(X, [-1, 1, 1, 1, 1, 1], classes=[-1, 1])
    assert model.dual_coef_.tolist() == [[-1, 1 / 2, 1 / 4, 1 / 8, 1 / 8, 1 / 8]]


def run_page(section, folder):
    """Write the sources of a section of the page, run its commands, return their output."""
    text = re.search(rf"^## {section}\n(.*?)(?=^## )", PAGE.read_text("utf-8"), re.M | re.S)[1]
    printed = []
    for language, code in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S):
        if language in SOURCE:
            (folder / re.search(SOURCE[language], text)[1]).write_text(code, encoding="utf-8")
        else:
            command = code if language == "sh" else ["python3", "-c", code]
            printed.append(consumers.run(command, folder))
    return printed


def test_the_pages_c_program(tmp_path):
    consumers.check_embeddable()
    (printed,) = run_page("A C program", tmp_path)
    lines = printed.splitlines()
    mistakes, support = map(int, re.findall(r"\d+", lines[0]))
    assert 0 < mistakes < 150
    assert 0 < support < 200
    answers = [re.fullmatch(r"([+-])1 is scored ([+-])\d\.\d\d", line) for line in lines[1:]]
    assert len(answers) == 4
    assert all(answer[1] == answer[2] for answer in answers)


def test_the_pages_cython_module(tmp_path):
    consumers.check_embeddable()
    built, printed = run_page("A Cython module", tmp_path)
    assert built == ""
    first, *_, last = map(int, re.findall(r"\d+", printed))
    assert last < first
