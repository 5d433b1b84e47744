"""Exports of what fitted models compute: as plain arrays, and as generated code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from onlinekern.estimators.savable import operations

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class ExportedC(NamedTuple):
    """The files that `export_c` has written.

    Attributes
    ----------
    code, header : Path
    flash : int
        Bytes of the constant tables.
    ram : int
        Bytes of one model.
    learns : bool
        Whether there is a function ``learn_one``.
    """

    code: Path
    header: Path
    flash: int
    ram: int
    learns: bool


class ExportedOnnx(NamedTuple):
    """The file that `export_onnx` has written.

    Attributes
    ----------
    path : Path
    size : int
        Bytes of the file.
    outputs : tuple of str
        The names of what the graph computes.
    """

    path: Path
    size: int
    outputs: tuple[str, ...]


# The learners and `StreamPipeline` have these methods.


def export_c(
    self: Any,
    path: str | os.PathLike[str],
    *,
    dtype: DTypeLike = "float64",
    prefix: str | None = None,
    learn: bool | None = None,
    capacity: int | None = None,
    rows: Any = None,
) -> ExportedC:
    """Export what this fitted model computes as one C99 file and its header.

    The code needs nothing but the standard library of C: it compiles for a microcontroller, as
    WebAssembly, or into a program. It has no ``malloc``: models are structures of the caller's, or
    one that is static, and constants are ``const``, so that they stay in flash. The state of a
    model that learns is saved and loaded in C, and read by `read_device_state`. docs/export.md has
    the commands.

    Parameters
    ----------
    path : str or path-like
        The C file, ``model.c``; the header ``model.h`` comes beside it. Files there are
        replaced.
    dtype : {'float64', 'float32', 'int16'}, default='float64'
        Of the numbers in C. float32 halves the memory, and is what small processors compute in
        hardware; scores then agree to about 1e-4. int16 is fixed point, for processors without a
        floating unit: it needs `rows`, predicts only, and takes and gives whole numbers, whose
        units are in the header. docs/export.md says which learners have it.
    prefix : str, default=None
        What the names in the header begin with, a C identifier. None: the name of the file.
    learn : bool, default=None
        Whether the C goes on learning, by ``model_learn_one(x, y)``. None: if it can and is not a
        kernel forest, whose C is two to four times as large then; docs/export.md says which
        learners can. Support vectors without a budget need a `capacity` for that.
    capacity : int >= 1, default=None
        For how many support vectors there is room in a model that learns without a budget. A
        sample that would need more is refused with the code ``MODEL_FULL``. None, with
        learn=True: the parameter `max_support`, if there is one.
    rows : array-like, sparse matrix or table of shape (n, n_features), default=None
        With dtype='int16', samples as `predict` takes them, whose ranges the 16 bits of the
        features hold; values beyond them count as the nearest that is held. Some thousands of the
        samples that were learnt will do. The other types take none.

    Returns
    -------
    ExportedC
        The two paths, the bytes of constants (`flash`) and of one model (`ram`), and
        whether the C can learn (`learns`).

    Raises
    ------
    NotFittedError
        If nothing has been learnt.
    TypeError
        If a part has no C: a Python function as kernel, a part or a step of another package;
        or with learn=True, if the learner is none of those that learn in C. The message says
        which part it is.
    ValueError
        If an argument is invalid, or a number of the model does not fit `dtype`; with 'int16' also
        if `rows` are missing or too far apart for the kernel, or the model is to learn.
    OSError
        If a file cannot be written.

    Notes
    -----
    The header declares, for the prefix ``model``, ``model_score(x, scores)``, which gives what
    `decision_function` does (`predict` of a regressor), and ``model_predict``, which gives the
    number of the class, an index into the table ``model_labels``; both also for sparse rows
    (``_sparse``: ascending columns, their values, and their number). A row with NaN or infinity
    gives the code ``MODEL_NOT_FINITE``. A model of tables has ``model_score_row`` and
    ``model_predict_row``, which take the values of its columns (docs/export.md).

    Examples
    --------
    >>> import os, tempfile
    >>> from onlinekern import SPAClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]
    >>> model = SPAClassifier(gamma=0.5, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = model.export_c(os.path.join(folder, "model.c"), dtype="float32")
    ...     made.header.name, made.code.read_text().count("malloc")
    ('model.h', 0)
    """
    return ExportedC(*operations().export_c(self, path, dtype, prefix, learn, capacity, rows))


def export_onnx(
    self: Any, path: str | os.PathLike[str], *, dtype: DTypeLike = "float32"
) -> ExportedOnnx:
    """Export what this fitted model computes as an ONNX file.

    Any runtime of ONNX predicts with it, without Python: onnxruntime in C++, C#, Java,
    JavaScript or on a phone, for one. The graph has ONNX's own operators only (opset 17; tried
    with onnxruntime 1.15 and 1.32). Needs ``pip install 'onlinekern[onnx]'``. docs/onnx.md has
    examples.

    Parameters
    ----------
    path : str or path-like
        Ends in ``.onnx``. A file there is replaced.
    dtype : {'float32', 'float64'}, default='float32'
        Of rows, scores and probabilities. float32 is what most programs have, half as large and
        faster; scores then agree to about 1e-4 with `decision_function`, with float64 to 1e-6.

    Returns
    -------
    ExportedOnnx
        The path, the bytes of the file (`size`), and the names of the `outputs`.

    Raises
    ------
    ImportError
        If onnx is not installed.
    NotFittedError
        If nothing has been learnt.
    TypeError
        If ONNX has no form for a part: a Python function as kernel, a part or a step of another
        package.
    ValueError
        If an argument is invalid, a number of the model does not fit `dtype`, or the file would
        be over the 2 GiB that ONNX allows: support vectors become dense.
    OSError
        If the file cannot be written.

    Notes
    -----
    The input is ``X`` of shape (n, n_features), dense, for any n > 0; of a model of tables there is
    one for each column, of shape (n, 1) (docs/onnx.md). The outputs have the names that skl2onnx
    gives:

    * a classifier: ``label`` (n,), ``probabilities`` (n, n_classes), which are those of
      `predict_proba`, and ``scores`` (n, 1), with more than two classes (n, n_classes);
    * a regressor: ``variable`` (n, 1);
    * a detector of outliers: ``label`` (n, 1) and ``scores`` (n, 1).

    Labels are int64 where all are whole numbers, else text. A row with NaN has the scores NaN,
    and a label without a meaning.

    Examples
    --------
    >>> import os, tempfile
    >>> from onlinekern import SPAClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]
    >>> model = SPAClassifier(gamma=0.5, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:  # doctest: +SKIP
    ...     model.export_onnx(os.path.join(folder, "model.onnx")).outputs
    ('label', 'probabilities', 'scores')
    """
    return ExportedOnnx(*operations().export_onnx(self, path, dtype))
