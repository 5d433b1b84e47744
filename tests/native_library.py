"""The C library: build it, call it."""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
from compiled import address, compiler
from sklearn.base import is_classifier

from onlinekern.fitted.save import container
from onlinekern.fitted.save.model_file import checksum

HOME = Path(__file__).parents[1] / "src" / "native"
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-g", "-ffp-contract=off"]


def build(folder, target, options, more=(), libraries=("-lm",)):
    """Compile the library, with further files, as the page says; return the path of what it is."""
    loops = Path(folder) / "loops.inc"
    written = [sys.executable, "-P", str(HOME / "loops.py"), str(loops)]
    subprocess.run(written, check=True, capture_output=True)
    sources = [*sorted(map(str, HOME.glob("*.c"))), *map(str, more)]
    include = [f"-I{part}" for part in (folder, HOME, HOME.parent / "include")]
    made = Path(folder) / target
    command = [compiler(), *FLAGS, *options, *include, *sources, *libraries, "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    return made


def load(folder):
    """Return the library as a shared one."""
    library = ctypes.CDLL(str(build(folder, "onlinekern.so", ["-O2", "-fPIC", "-shared"])))
    library.okn_error.restype = library.okn_label.restype = ctypes.c_char_p
    library.okn_n_seen.restype = ctypes.c_int64
    return library


class Refused(Exception):
    """The library has returned a negative code."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Native:
    """A model of the library.

    Parameters
    ----------
    library : ctypes.CDLL
    path : path
    """

    def __init__(self, library, path):
        self.library, self.handle = library, ctypes.c_void_p()
        self.checked(library.okn_open(bytes(Path(path)), ctypes.byref(self.handle)))
        self.n_outputs = library.okn_n_outputs(self.handle)

    def __del__(self):
        self.library.okn_close(self.handle)

    def checked(self, code):
        if code < 0:
            raise Refused(code, self.library.okn_error(self.handle).decode())
        return code

    def call(self, name, *arguments):
        return self.checked(getattr(self.library, f"okn_{name}")(self.handle, *arguments))

    def scores(self, X):
        found = np.zeros((len(X), self.n_outputs))
        for x, out in zip(np.ascontiguousarray(X, dtype=float), found, strict=True):
            self.call("score", address(x), address(out))
        return found

    def sparse_scores(self, X):
        found = np.zeros((len(X), self.n_outputs))
        for x, out in zip(X, found, strict=True):
            columns = np.flatnonzero(x).astype(np.int32)
            values = np.ascontiguousarray(x[columns], dtype=float)
            self.call("score_sparse", address(columns), address(values), len(columns), address(out))
        return found

    def predict(self, X):
        return [self.call("predict", address(np.ascontiguousarray(x, dtype=float))) for x in X]

    def learn(self, X, targets):
        for x, y in zip(np.ascontiguousarray(X, dtype=float), targets, strict=True):
            self.call("learn", address(x), ctypes.c_double(y))

    def save(self, path):
        self.call("save", bytes(Path(path)))

    @property
    def labels(self):
        number = self.library.okn_n_classes(self.handle)
        return [self.library.okn_label(self.handle, k).decode() for k in range(number)]


def write_contents(path, class_name, tree, arrays):
    """Write a model file, with a checksum that agrees."""
    texts = {"format": "onlinekern", "format_version": "1", "library_version": "0.1"}
    texts |= {"class": class_name, "tree": tree}
    texts["sha256"] = checksum(texts, arrays)
    with path.open("wb") as stream:
        container.write(stream, arrays, texts)


def numbers_of(model, y):
    """Return targets as arguments of C."""
    return np.searchsorted(model.classes_, y) if is_classifier(model) else y
