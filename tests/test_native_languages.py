"""The examples in C, Rust, Go and Java follow a stream as Python does, which goes on from it."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from compiled import compiler
from native_library import HOME, build

import onlinekern

EXAMPLES = Path(__file__).parents[1] / "examples" / "native"
LEARNT, MORE = 300, 400


def tool(name, *folders):
    """Return the path of a compiler; the test is skipped where there is none."""
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(map(str, folders)))
    if found is None:
        pytest.skip(f"{name} is not installed: its example cannot be compiled")
    return found


def run(command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stderr[:4000]
    return done.stdout


def in_c(folder):
    made = folder / "stream"
    own = [f"-I{HOME}", f"-L{folder}", "-lonlinekern", "-lm"]
    run([compiler(), "-std=c11", "-Wall", "-Werror", EXAMPLES / "stream.c", *own, "-o", made])
    return [made]


def in_rust(folder):
    rustc = tool("rustc", Path.home() / ".cargo" / "bin")
    made = folder / "stream"
    run(
        [rustc, "-O", "-D", "warnings", "-L", folder, EXAMPLES / "stream.rs", "-l", "m", "-o", made]
    )
    return [made]


def in_go(folder):
    go = tool("go")
    own = {"CGO_ENABLED": "1", "CGO_CFLAGS": f"-I{HOME}", "CGO_LDFLAGS": f"-L{folder}"}
    made = folder / "stream"
    run([go, "build", "-o", made, "."], cwd=EXAMPLES / "go", env=os.environ | own)
    return [made]


def java_tools():
    """Return the compiler and the runtime of a JDK that has the interface to C, or skip."""
    homes = [os.environ.get("JAVA_HOME"), *sorted(Path("/usr/lib/jvm").glob("*"))]
    folders = [Path(home) / "bin" for home in homes if home] + [
        Path(found).parent for found in [shutil.which("javac")] if found
    ]
    oldest = 0
    for folder in folders:
        if (folder / "javac").exists() and (folder / "java").exists():
            version = int(run([folder / "javac", "-version"]).split()[1].split(".")[0])
            if version >= 22:
                return folder / "javac", folder / "java"
            oldest = version
    older = f", only {oldest}" if oldest else ""
    return pytest.skip(f"there is no JDK of Java 22 or later{older}: its example is not compiled")


def in_java(folder):
    javac, java = java_tools()
    library = build(folder, "libonlinekern.so", ["-O2", "-fPIC", "-shared"])
    sources = sorted((EXAMPLES / "java").glob("*.java"))
    run([javac, "-encoding", "UTF-8", "-Xlint:all", "-Werror", "-d", folder, *sources])
    own = ["--enable-native-access=ALL-UNNAMED", f"-Donlinekern.library={library}"]
    return [java, *own, "-cp", folder, "Stream"]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Make libonlinekern.a; return its path."""
    folder = tmp_path_factory.mktemp("library")
    linked = build(folder, "onlinekern.o", ["-O2", "-r", "-nostdlib"], libraries=())
    run([tool("ar"), "rcs", folder / "libonlinekern.a", linked])
    return folder / "libonlinekern.a"


def test_names_that_a_linker_sees_have_the_prefix(library):
    seen = run([tool("nm"), "-g", "--defined-only", library])
    names = [words[2] for line in seen.splitlines() if len(words := line.split()) == 3]
    assert "okn_open" in names
    assert [name for name in names if not name.startswith("okn_")] == []


@pytest.fixture(
    scope="module", params=[in_c, in_rust, in_go, in_java], ids=["c", "rust", "go", "java"]
)
def program(request, library, tmp_path_factory):
    folder = tmp_path_factory.mktemp("languages")
    shutil.copy(library, folder)
    return request.param(folder)


def test_the_example_follows_a_stream_as_python_does(program, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(LEARNT + MORE, 4))
    y = np.where(X[:, 0] * X[:, 1] > 0, "süß", "sauer")
    model = onlinekern.BPAClassifier(gamma=0.5, budget=40).fit(X[:LEARNT], y[:LEARNT])
    model.save(tmp_path / "model.okn")
    wrong = 0
    lines = []
    for x, label in zip(X[LEARNT:], y[LEARNT:], strict=True):
        wrong += model.predict([x])[0] != label
        model.learn_one(x, label)
        lines.append(" ".join([label, *map(repr, x.tolist())]))
    command = [*program, tmp_path / "model.okn", tmp_path / "saved.okn"]
    assert run(command, input="\n".join(lines) + "\n") == f"{wrong} of {MORE} wrong\n"
    saved = onlinekern.load(tmp_path / "saved.okn")
    np.testing.assert_allclose(saved.decision_function(X), model.decision_function(X), atol=1e-10)


def test_the_example_says_what_is_wrong(program, tmp_path):
    (tmp_path / "model.okn").write_bytes(b"no model at all")
    command = [*program, tmp_path / "model.okn", tmp_path / "saved.okn"]
    done = subprocess.run(command, input="", capture_output=True, text=True)
    assert done.returncode == 1
    assert "is no safetensors file" in done.stderr
    assert not (tmp_path / "saved.okn").exists()
