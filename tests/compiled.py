"""Exported C: compile it, call it."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
LIBRARY = ["-O0", "-fPIC", "-shared"]


def compiler(name="cc"):
    """Return the path of a compiler; the test is skipped where there is none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: the exported C cannot be compiled")
    return found


def compile_files(command, files):
    """Run a compiler over C files; fail with what it says."""
    done = subprocess.run([*command, *FLAGS, *map(str, files)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]


def check_as_cpp(files):
    """Fail unless a compiler of C++, if there is one, takes C files; many firmwares are C++."""
    found = shutil.which("g++") or shutil.which("clang++")
    if found is not None:
        # Not pedantic: compilers take designated initialisers before C++20 too.
        flags = ["-x", "c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        done = subprocess.run([found, *flags, *map(str, files)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:4000]


def load(folder, files, name="cc", more=()):
    """Return the shared library of C files."""
    path = Path(folder) / "exported.so"
    compile_files([compiler(name), *LIBRARY, *more, "-o", str(path)], [*files, "-lm"])
    return ctypes.CDLL(str(path))


def address(array):
    return array.ctypes.data_as(ctypes.c_void_p)


class Program:
    """The functions of one exported model.

    Parameters
    ----------
    library : ctypes.CDLL
    prefix : str
    dtype : numpy dtype
    n_outputs : int
    """

    def __init__(self, library, prefix, dtype, n_outputs):
        self.library, self.prefix = library, prefix
        self.dtype, self.n_outputs = np.dtype(dtype), n_outputs

    def call(self, name, *arguments):
        return getattr(self.library, f"{self.prefix}_{name}")(*arguments)

    def dense(self, x):
        """Return the arguments of a dense row, and what must live as long as they."""
        row = np.ascontiguousarray(x, self.dtype)
        return (address(row),), row

    def sparse(self, x):
        """Return the same of a sparse row; a row of zeros has no elements."""
        x = np.ravel(x)
        columns = np.flatnonzero(x).astype(np.int32)
        values = x[columns].astype(self.dtype)
        return (address(columns), address(values), len(values)), (columns, values)

    def forms(self, x):
        """Return (ending, arguments, arrays) of a dense row in both forms."""
        return [("", *self.dense(x)), ("_sparse", *self.sparse(x))]

    def scores(self, X, sparse_rows=False):
        """Return the scores of dense rows, ndarray (n, n_outputs)."""
        found = np.zeros((len(X), self.n_outputs), self.dtype)
        for x, out in zip(X, found, strict=True):
            ending, arguments, _alive = self.forms(x)[sparse_rows]
            assert self.call(f"score{ending}", *arguments, address(out)) == 0
        return found

    def classes(self, X, sparse_rows=False):
        """Return the class numbers of dense rows."""
        found = []
        for x in X:
            ending, arguments, _alive = self.forms(x)[sparse_rows]
            found.append(self.call(f"predict{ending}", *arguments))
        return np.array(found)

    def table(self, name, kind, count):
        """Return a table that the header declares."""
        return list((kind * count).in_dll(self.library, f"{self.prefix}_{name}"))
