"""Call the public C interface as a C program does: by addresses of its functions, in a C loop."""

import ctypes
import functools
import sysconfig
import weakref
from pathlib import Path

from c_library import compiled
from scipy import sparse

import onlinekern

try:
    from onlinekern.core import capi
except ImportError:  # An old commit without the C interface.
    capi = None
try:
    from onlinekern.fitted.save import to_bytes
except ImportError:  # An old commit, where ok_load reads pickles.
    from pickle import dumps as to_bytes

SOURCE = Path(__file__).with_name("capi_loop.c")


class Matrix(ctypes.Structure):
    """`ok_matrix` of onlinekern.h."""

    _fields_ = [
        ("values", ctypes.c_void_p),
        ("indices", ctypes.c_void_p),
        ("indptr", ctypes.c_void_p),
        ("n_rows", ctypes.c_ssize_t),
        ("n_columns", ctypes.c_ssize_t),
        ("dtype", ctypes.c_int),
    ]


class Work(ctypes.Structure):
    """`work` of capi_loop.c."""

    _fields_ = [
        ("learn_one", ctypes.c_void_p),
        ("scores", ctypes.c_void_p),
        ("model", ctypes.c_void_p),
        ("X", ctypes.POINTER(Matrix)),
        ("y", ctypes.c_void_p),
        ("out", ctypes.c_void_p),
        ("attached", ctypes.c_int),
        ("status", ctypes.c_int),
    ]


def matrix_of(X):
    """Return the `ok_matrix` of an array or a CSR matrix, which must outlive it."""
    dense = not sparse.issparse(X)
    return Matrix(
        X.ctypes.data if dense else X.data.ctypes.data,
        None if dense else X.indices.ctypes.data,
        None if dense else X.indptr.ctypes.data,
        *X.shape,
        X.dtype.itemsize,
    )


def address_of(verb):
    """Return the address of a function, found as by `import_onlinekern__core__capi`."""
    api, capsule = ctypes.pythonapi, capi.__pyx_capi__[verb]
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    signature = api.PyCapsule_GetName(ctypes.py_object(capsule))
    return api.PyCapsule_GetPointer(ctypes.py_object(capsule), ctypes.c_char_p(signature))


def function(verb, result, *arguments):
    """Return a function of the interface; call it with the GIL."""
    return ctypes.PYFUNCTYPE(result, *arguments)(address_of(verb))


@functools.cache
def loops():
    """Return the compiled loops, which are called without the GIL, as a C program calls."""
    include = onlinekern.get_include(), sysconfig.get_path("include")
    return compiled(SOURCE, *include, load=ctypes.CDLL)


class Model:
    """A new `ok_model`, made from the bytes of an estimator."""

    def __init__(self, estimator):
        if capi is None:
            raise NotImplementedError("onlinekern.core.capi")
        data = to_bytes(estimator)
        load = function("ok_load", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_ssize_t)
        self.address = ctypes.c_void_p(load(data, len(data)))
        check(0 if self.address else 1)
        self.all_at_once = function("ok_learn", ctypes.c_int, *5 * [ctypes.c_void_p])
        self.all_scores = function(
            "ok_scores", ctypes.c_int, *3 * [ctypes.c_void_p], ctypes.c_ssize_t
        )
        free = function("ok_free", None, ctypes.c_void_p)
        weakref.finalize(self, free, self.address)

    def learn(self, X, y):
        """Call ok_learn; y is float64."""
        matrix = matrix_of(X)
        check(self.all_at_once(self.address, ctypes.byref(matrix), y.ctypes.data, None, None))

    def score(self, X, out):
        """Call ok_scores."""
        matrix = matrix_of(X)
        check(self.all_scores(self.address, ctypes.byref(matrix), out.ctypes.data, len(out)))

    def each(self, X, y, out=None):
        """Call ok_learn_one for every row, or ok_scores into `out`, of a model with one output."""
        check(loops().each(ctypes.byref(self.work(X, y, out))))

    def each_in_thread(self, X, y, out=None, attached=False):
        """Do the same in a thread that Python does not know, or that is `attached` all the time."""
        check(loops().each_in_thread(ctypes.byref(self.work(X, y, out, attached))))

    def work(self, X, y, out, attached=False):
        """Return what the loops need; the arrays must outlive it."""
        return Work(
            address_of("ok_learn_one"),
            address_of("ok_scores"),
            self.address,
            ctypes.pointer(matrix_of(X)),
            None if y is None else y.ctypes.data,
            None if out is None else out.ctypes.data,
            attached,
        )


def check(status):
    """Raise the last error of the interface."""
    if status != 0:
        raise ValueError(function("ok_last_error", ctypes.c_char_p)().decode())
