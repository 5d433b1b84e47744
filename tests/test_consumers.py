"""Programs and packages built on the installed library, and the examples of docs/c_api.md."""

import importlib.metadata
import importlib.resources
import json
import pickle
import re
import shutil
from pathlib import Path

import consumers
import numpy as np
import pytest
from scipy import sparse

import onlinekern
from onlinekern import KernelOGDClassifier, PARegressor, SPAClassifier
from onlinekern.core import HEADS, LOSSES, RULES, SAMPLERS, SCHEDULES
from onlinekern.core.base.random import Generator
from onlinekern.core.models.linear import LinearSpace
from onlinekern.core.models.mapped import MappedSpace
from onlinekern.core.stream import Model

PAGE = Path(__file__).parents[1] / "docs" / "c_api.md"
SOURCE = {"c": r"`(\w+\.c)`", "cpp": r"`(\w+\.cpp)`", "cython": r"`(\w+\.pyx)`"}


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    return consumers.build_extension("foreign", tmp_path_factory.mktemp("foreign"))


def test_plain_c_program(tmp_path, equal):
    program = consumers.build_program(tmp_path, consumers.HERE / "embedding.c")
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


def test_threads_of_a_c_program(tmp_path):
    """The program itself compares the answers of its threads with those of one thread alone."""
    program = consumers.build_program(tmp_path, consumers.HERE / "threads.c")
    *read, seen = consumers.run([str(program)], tmp_path).splitlines()
    states = [int(re.fullmatch(r"reader \d: (\d+) states", line)[1]) for line in read]
    assert len(states) == 3
    # The thread that learns lets the others read after every 10th row.
    assert all(5 < count <= 101 for count in states)
    assert seen == "seen: 360"


def members_of(header):
    """Return the public functions of the classes in a header."""
    text = re.sub(r"^  private:.*?^\};", "", header.read_text("utf-8"), flags=re.M | re.S)
    text = text[text.index("/// Python in a program of its own") :]
    return set(re.findall(r"^    (?:[\w:<>,]+ )+[*&]*([a-z]\w+)\(", text, re.M))


def test_the_cpp_program_uses_every_member():
    consumers.check_installed()
    known = members_of(consumers.INCLUDE / "onlinekern" / "onlinekern.hpp")
    assert {"fit", "learn_predict", "adopt", "csr", "n_support", "release", "get"} <= known
    used = (consumers.HERE / "members.cpp").read_text("utf-8")
    assert {name for name in known if f"{name}(" not in used} == set()


@pytest.mark.parametrize("standard", ["c++20", "c++17"])
def test_cpp_program(standard, tmp_path, equal):
    sources = consumers.HERE / "members.cpp", consumers.HERE / "elsewhere.cpp"
    program = consumers.build_program(tmp_path, *sources, flags=[f"-std={standard}"])
    printed = consumers.run([str(program), str(tmp_path / "model.okn")], tmp_path).splitlines()
    lines = {line.split()[0]: line.split()[1:] for line in reversed(printed)}
    numbers = {key: np.array([float.fromhex(word) for word in words])
               for key, words in lines.items()}  # fmt: skip
    i, j = np.arange(120)[:, None], np.arange(3)
    X = (i * (7 + 6 * j) * 31 + j * 5) % 17 / 8 - 1
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    twin = SPAClassifier(gamma=2, beta=5, random_state=3)
    twin.partial_fit(X[:30], y[:30], classes=[-1, 1])
    predicted = twin.partial_fit_predict(X[:60], y[:60], sample_weight=np.full(60, 0.5))
    twin.partial_fit(X[60:], y[60:])
    equal(numbers["predicted"], predicted.astype(float))
    equal(numbers["scores"], twin.decision_function(X))
    equal(numbers["predictions"], twin.predict(X).astype(float))
    equal(numbers["classes"], np.array([-1.0, 1.0]))
    counts = [twin.n_seen_, twin.n_mistakes_, twin.n_support_, 3, 1]
    assert list(map(int, lines["counts"])) == counts
    narrow = X.astype(np.float32)
    regressor = PARegressor(random_state=3).fit(narrow, y)
    stored = sparse.csr_matrix(narrow)
    regressor.learn_one(narrow[0], 0.5).learn_one(stored[0], 0.5)
    equal(numbers["floats"], regressor.predict(stored[:20]))


def test_another_compiler_takes_the_cpp_header(tmp_path):
    consumers.check_installed()
    others = [name for name in ("clang++", "g++") if shutil.which(name)]
    if not others or others[0] in consumers.compiler("CXX"):
        pytest.skip("there is no other C++ compiler")
    includes = consumers.run(["python3-config", "--includes"], tmp_path).split()
    consumers.run(
        [others[0], "-std=c++20", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only",
         f"-I{consumers.INCLUDE}", *includes, str(consumers.HERE / "members.cpp")],
        tmp_path,
    )  # fmt: skip


def test_the_cpp_header_knows_the_interface():
    """The names and signatures by which it finds the functions."""
    consumers.check_installed()
    text = (consumers.INCLUDE / "onlinekern" / "functions.hpp").read_text("utf-8")
    table = re.search(r"#define ONLINEKERN_FUNCTIONS\(F\)(.*?)\n\n", text, re.S)[1]
    found = re.findall(r"F\((\w+),.*?((?:\s*\"[^\"]*\"[\s\\]*)+)\)", table, re.S)
    signatures = {f"ok_{name}": "".join(re.findall(r'"(.*?)"', text)) for name, text in found}
    recorded = Path(__file__).with_name("abi_signatures.json").read_text("utf-8")
    assert signatures == json.loads(recorded)["functions"]


def test_pkg_config(tmp_path):
    flags = consumers.pkg_config(tmp_path, "--cflags")
    assert Path(flags.removeprefix("-I")).samefile(consumers.INCLUDE)
    assert consumers.pkg_config(tmp_path, "--modversion") == onlinekern.__version__


def test_the_pc_file_is_announced():
    """PyPI's pkgconf looks in the folders of these packages."""
    consumers.check_installed()
    (entry,) = importlib.metadata.entry_points(group="pkg_config", name="onlinekern")
    assert importlib.resources.files(entry.value).joinpath("onlinekern.pc").is_file()


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
    assert theirs._model.rule != ours._model.rule
    theirs._model.rule = ours._model.rule
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


def test_foreign_coefficient_of_a_rule_of_ours(foreign):
    """What our class does in one call is not what the class that derives from it means."""
    ours, theirs = RULES["cw"](LOSSES["hinge"](), 0.9), foreign.Hesitant(LOSSES["hinge"](), 0.9)
    coefficient, contraction, loss = ours.evaluate_together(0.5, 1.0, 2.0)
    assert coefficient > 0
    assert theirs.evaluate_together(0.5, 1.0, 2.0) == (coefficient / 2, contraction, loss)


def learner(space=None, rule=None, loss=None):
    """Return a model of two features in which some components are replaced."""
    rule = rule or RULES["gradient"](loss or LOSSES["hinge"](), SCHEDULES["constant"]())
    return Model(
        space or LinearSpace(2, np.float64, 1, False),
        HEADS["binary"](),
        rule,
        SAMPLERS["always"](),
        Generator(0),
        2,
        np.float64,
    )


FORGOTTEN = {
    "Loss.value": lambda foreign: {"loss": foreign.NoValue()},
    "Loss.slope": lambda foreign: {"loss": foreign.NoSlope()},
    "Rule.coefficient": lambda foreign: {"rule": foreign.NoCoefficient(LOSSES["hinge"]())},
    "Rule.contraction": lambda foreign: {"rule": foreign.NoContraction(LOSSES["hinge"]())},
    "Space.scores": lambda foreign: {"space": foreign.NoScores()},
    "Space.update": lambda foreign: {"space": foreign.NoUpdate()},
    "Space.checkpoint": lambda foreign: {"space": foreign.NoLengths()},
    "Space.squared_lengths": lambda foreign: {
        "space": foreign.NoLengths(),
        "rule": RULES["pa1"](LOSSES["hinge"]()),
    },
    "FeatureMap.fill": lambda foreign: {"space": MappedSpace(foreign.NoFill(2), 1, False)},
}


@pytest.mark.parametrize("method", FORGOTTEN)
def test_forgotten_method(method, foreign):
    """A method that a subclass must define, and does not, is named; nothing is learnt."""
    replaced = FORGOTTEN[method](foreign)
    model = learner(**replaced)
    message = rf"^\w+ does not define {method}$"
    for _ in range(2):
        with pytest.raises(NotImplementedError, match=message):
            model.learn(np.ones((3, 2)), np.ones(3))
        with pytest.raises(NotImplementedError, match=message):
            model.learn_one(np.ones(2), 1)
    assert (model.n_seen, model.cumulative_loss) == (0, 0)


def test_forgotten_method_of_scoring(foreign):
    model = learner(space=foreign.NoLengths())
    with pytest.raises(NotImplementedError, match=r"NoLengths does not define Space\.score$"):
        model.scores(np.ones((3, 2)), np.empty((3, 1)))
    with pytest.raises(NotImplementedError, match=r"NoLengths does not define Space\.score$"):
        model.score_one(np.ones(2))


def test_forgotten_method_of_an_estimator(foreign, stream):
    class Forgetful(KernelOGDClassifier):
        def _rule(self):
            return RULES["gradient"](foreign.NoSlope(), SCHEDULES["constant"](self.eta))

    X, y = stream("binary", n=50)
    with pytest.raises(NotImplementedError, match=r"NoSlope does not define Loss\.slope"):
        Forgetful().fit(X, y)
    with pytest.raises(NotImplementedError, match=r"NoSlope does not define Loss\.slope"):
        foreign.NoSlope().evaluate(0, 1)


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


def check_learnt(lines):
    """Check what the programs of the page print."""
    mistakes, support = map(int, re.findall(r"\d+", lines[0]))
    assert 0 < mistakes < 150
    assert 0 < support < 200
    answers = [re.fullmatch(r"([+-])1 is scored ([+-])\d\.\d\d", line) for line in lines[1:]]
    assert len(answers) == 4
    assert all(answer[1] == answer[2] for answer in answers)


def test_the_pages_c_program(tmp_path):
    """With the flags of the page, and with those of pkg-config."""
    consumers.check_embeddable()
    (printed,) = run_page("A C program", tmp_path)
    check_learnt(printed.splitlines())
    (tmp_path / "exclusive_or").unlink()
    if shutil.which("pkg-config"):
        *same, version = run_page("pkg-config", tmp_path)[0].splitlines()
        assert same == printed.splitlines()
        assert version == onlinekern.__version__


def test_the_pages_cpp_program(tmp_path):
    consumers.check_embeddable()
    consumers.compiler("CXX")
    (printed,) = run_page(r"A C\+\+ program", tmp_path)
    check_learnt(printed.splitlines())
    assert (tmp_path / "exclusive_or.okn").exists()


def test_the_pages_cython_module(tmp_path):
    consumers.check_embeddable()
    built, printed = run_page("A Cython module", tmp_path)
    assert built == ""
    first, *_, last = map(int, re.findall(r"\d+", printed))
    assert last < first
