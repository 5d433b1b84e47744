"""The C of kernel forests alone: it compiles without warnings, and rows may be as many as fit."""

import subprocess
from pathlib import Path

import pytest
from compiled import compiler

HERE = Path(__file__).parent
HOME = HERE.parent / "src"
OPTIONS = ["-std=gnu11", "-ffp-contract=off", f"-I{HOME / 'include'}", "-DOK_TABLE=loops"]
# As src/meson.build has them: pragmas are one compiler's, and no vector leaves its file.
OPTIONS += ["-Wno-unknown-pragmas", "-Wno-psabi", '-DOK_LEVEL="baseline"']


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_no_compiler_warns(name, tmp_path):
    wanted = ["-O3", "-Wall", "-Wextra", "-pedantic", "-Werror", *OPTIONS]
    done = subprocess.run(
        [compiler(name), *wanted, "-c", HOME / "c" / "forest_loops.c", "-o", tmp_path / "loops.o"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_rows_behind_two_to_the_31_numbers(tmp_path):
    program = tmp_path / "far_rows"
    files = [HERE / "consumers" / "far_rows.c", HOME / "c" / "forest_loops.c"]
    subprocess.run([compiler(), "-O1", *OPTIONS, *files, "-lm", "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    if done.returncode == 3:
        pytest.skip("the system does not give so many addresses")
    assert done.returncode == 0, done.stdout
