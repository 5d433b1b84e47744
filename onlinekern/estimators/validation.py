"""scikit-learn's validation of samples, with a shortcut of a microsecond for plain rows.

scikit-learn's validation takes as long as learning some thousand rows. So arrays and CSR matrices
that `validate_data` would return unchanged are returned after the same, but faster, tests.
Everything else, valid or not, goes to `validate_data`.
"""

import inspect
import reprlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import validation
from sklearn.utils.multiclass import unique_labels

from onlinekern.core.samples.plain import all_finite, plain_rows
from onlinekern.core.samples.rows import checked_csr
from onlinekern.estimators.array_types import check_one_kind, numbers_in, plain_targets
from onlinekern.estimators.atomic import UndoneOnFailure, lock_of
from onlinekern.estimators.encoded_tables import (
    Encoded,
    are_positions,
    encoded,
    encoded_by,
    holds_rows_by_name,
    note_columns,
    stand_in,
)
from onlinekern.estimators.table_errors import check_types, explained, explained_targets

NUMBERS = "biuf"
LABELS = NUMBERS + "U"
# From scikit-learn 1.9 on, weights that are all 0 are refused without this argument.
KNOWN = inspect.signature(validation._check_sample_weight).parameters
ZEROS = {"allow_all_zero_weights": True} if "allow_all_zero_weights" in KNOWN else {}


def check_results(values: Any, what: str) -> None:
    """Raise FloatingPointError unless the results of n rows, ndarray (n, ...), are finite."""
    if all_finite(values):
        return
    finite = np.isfinite(values).reshape(len(values), -1).all(axis=1)
    raise FloatingPointError(
        f"the {what} of row {int(np.argmin(finite))} is not finite: its values are too large for "
        "this model. Scale the features."
    )


def plain_rows_for(estimator: Any, X: Any, dtype: Any, reset: bool) -> Any:
    """Return X as `validate_data` would, if the estimator takes it unchanged; else None."""
    if not reset and hasattr(estimator, "feature_names_in_"):
        return None
    listed = isinstance(dtype, list)
    narrow = np.float32 in dtype if listed else dtype == np.float32
    wide = np.float64 in dtype if listed else dtype == np.float64
    rows = plain_rows(X, narrow, wide)
    if rows is None or not (reset or rows.shape[1] == estimator.n_features_in_):
        return None
    return rows


def are_plain_targets(y: Any, n_samples: int, kinds: str, several: bool = False) -> bool:
    """Return whether y is an array of one label or finite number per sample, or of several."""
    return (
        type(y) is np.ndarray
        and (y.shape == (n_samples,) or (several and y.ndim == 2 and len(y) == n_samples))
        and y.size > 0
        and y.dtype.kind in kinds
        and (y.dtype.kind != "f" or all_finite(y))
    )


def check_sparse(X: Any) -> None:
    """Raise ValueError for a sparse matrix with indices out of range, before SciPy uses them.

    CSR matrices are checked later; SciPy converts all other formats to CSR.

    Parameters
    ----------
    X : sparse matrix or array
    """
    if X.ndim != 2:
        return
    if X.format == "coo":
        for name, indices, size in zip(("row", "column"), (X.row, X.col), X.shape, strict=True):
            if len(indices) and not 0 <= indices.min() <= indices.max() < size:
                raise ValueError(f"X is no valid COO matrix: a {name} index is not in [0, {size})")
    elif X.format in ("csc", "bsr"):
        X.check_format(full_check=True)


def csr_of(X: Any) -> Any:
    """Return samples unchanged, but sparse matrices of any format as CSR, as `rows_of` needs it.

    Parameters
    ----------
    X : sparse matrix, or anything else
    """
    if not sp.issparse(X) or X.format == "csr":
        return X
    check_sparse(X)
    return X.tocsr()


def validate_data(
    estimator: Any,
    X: Any,
    y: Any = "no_validation",
    *,
    dtype: Any,
    reset: bool,
    y_numeric: bool = False,
    multi_output: bool = False,
    missing: bool = False,
    learn: bool = False,
) -> Any:
    """Validate rows, C-ordered or CSR, and targets: `sklearn.utils.validation.validate_data`.

    Tables that hold more than numbers become rows of numbers here (`encoded_tables`).

    Parameters
    ----------
    estimator : estimator
        With ``reset=False``, one that has been fitted.
    X : array-like, CSR matrix or table of shape (n_samples, n_features), or Encoded
    y : array-like of shape (n_samples,), optional
    dtype : dtype or list of dtypes
        The type of the result; with a list, other types are converted to the first one.
    reset : bool
        Whether X sets the number and names of the features; otherwise X must match them.
    y_numeric : bool, default=False
        Whether y holds numbers, not labels.
    multi_output : bool, default=False
        Whether a sample may have several targets, the columns of y.
    missing : bool, default=False
        Whether NaN in X stands for a missing value.
    learn : bool, default=False
        Whether an encoder of the estimator also learns X.

    Returns
    -------
    X, or X and y if y was given

    Raises
    ------
    ValueError
        If X or y is invalid. For columns of text, categories, dates or missing values, it names
        them and how `TableEncoder` turns them into numbers.
    """
    own = estimator.__dict__
    given = y, dtype, reset, y_numeric, multi_output, missing
    other = type(X) is not np.ndarray or X.dtype.kind == "V"
    if other or "encoder_" in own or (reset and own.get("encode") is True):
        in_order = no_name_warnings_for(X)
        X = encoded(estimator, X, reset, learn, y)
        if not isinstance(X, Encoded):
            with in_order:
                return validated(estimator, X, *given)
    if not isinstance(X, Encoded):
        return validated(estimator, X, *given)
    found = validated(stand_in(estimator, reset), X.rows, *given)
    if reset:
        note_columns(estimator)
    return found


def validated(
    estimator: Any,
    X: Any,
    y: Any,
    dtype: Any,
    reset: bool,
    y_numeric: bool,
    multi_output: bool,
    missing: bool,
) -> Any:
    """Validate rows of numbers, and targets, as `validate_data` does."""
    alone = isinstance(y, str) and y == "no_validation"
    if isinstance(y, list | tuple) and not y_numeric:
        check_one_kind(y)
    plain = plain_rows_for(estimator, X, dtype, reset)
    if plain is not None:
        targets = np.asarray(y) if type(y) is list else y
        kinds = NUMBERS if y_numeric else LABELS
        if alone or are_plain_targets(targets, plain.shape[0], kinds, multi_output):
            if reset:  # scikit-learn stores the number of features, and drops their names.
                validation.validate_data(estimator, X, y, reset=True, skip_check_array=True)
            return plain if alone else (plain, targets)
    if sp.issparse(X):
        check_sparse(X)
    checks: dict[str, Any] = {}
    if not alone:
        y = numbers_in(plain_targets(y)) if y_numeric else plain_targets(y)
        checks = {"y_numeric": y_numeric, "multi_output": multi_output}
    if missing:
        checks["ensure_all_finite"] = "allow-nan"
    check_types(estimator, X, missing)
    try:
        found = validation.validate_data(
            estimator, X, y, accept_sparse="csr", dtype=dtype, order="C", reset=reset, **checks
        )
    except (TypeError, ValueError) as error:
        about_y = None if alone else explained_targets(y, error, y_numeric)
        raise about_y or explained(estimator, X, error, missing) from None
    if y_numeric:
        check_targets(found[1])
    rows, *targets = (found,) if alone else found
    if sp.issparse(rows):
        rows = checked_csr(rows)
    return (rows, *targets) if targets else rows


def columns_of_targets(y: Any) -> Any:
    """Return the targets of samples, float64; ValueError unless they are finite numbers."""
    try:
        targets = numbers_in(plain_targets(y))
        if not sp.issparse(targets):
            targets = np.asarray(targets)
        if targets.ndim != 2 or targets.shape[1] == 1:
            targets = validation.column_or_1d(targets, warn=True)
        if targets.dtype.kind == "O":
            targets = targets.astype(np.float64)
        validation.assert_all_finite(targets, input_name="y")
    except (TypeError, ValueError) as error:
        raise explained_targets(y, error) or error from None
    check_targets(targets)
    return targets.astype(np.float64, copy=False)


def check_targets(y: Any) -> None:
    """Raise ValueError unless y holds finite numbers.

    scikit-learn turns None into NaN after its own check, and accepts dates and text.
    """
    if sp.issparse(y):
        raise ValueError("y must be an array of targets, got a sparse matrix")
    if y.dtype.kind not in NUMBERS:
        raise ValueError(f"y must hold numbers, got an array of dtype {y.dtype}")
    finite = np.isfinite(y).all(axis=tuple(range(1, y.ndim)))
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(f"y must hold finite numbers; y[{row}] is missing or {y[row]}")


def check_weights(sample_weight: Any, X: Any, whole: bool = False) -> Any:
    """Return validated weights >= 0 of the rows of X, float64; None stays None.

    They may all be 0 if X is a part of a stream, not the `whole` of what is learnt.
    """
    if sample_weight is None:
        return None
    try:
        weights = validation._check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True, **ZEROS
        )
    except (TypeError, ValueError) as error:
        if "weight" in str(error):
            raise
        raise type(error)(f"sample_weight must hold numbers: {error}") from None
    if whole and not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def one_row(x: Any) -> Any:
    """Return one sample, an array of shape (n_features,) or a CSR matrix, as a matrix of one row.

    Dictionaries, and lists that hold more than numbers, become lists. A row of a data frame becomes
    a table. A number is a sample of one feature."""
    if isinstance(x, Mapping):
        return [x]
    if has_names(x):
        return row_of_table(x)
    if isinstance(x, list | tuple) and any(isinstance(value, Mapping) for value in x):
        raise TypeError("x must be one sample, got a list of dictionaries: give one of them")
    if isinstance(x, list | tuple) and any(isinstance(value, str) for value in x):
        return [list(x)]
    if sp.issparse(x):
        if x.ndim == 2 and x.shape[0] != 1:
            raise ValueError(f"x must be one sample, got a sparse matrix of {x.shape[0]} rows")
        return x
    if has_several_axes(x):
        raise ValueError(f"x must be one sample of shape (n_features,), got shape {np.shape(x)}")
    return np.reshape(x, (1, -1))


def has_several_axes(x: Any) -> bool:
    """Return whether an array or a list has several axes, and so is no sample."""
    return not isinstance(x, Mapping) and not has_names(x) and np.ndim(x) > 1


def has_names(x: Any) -> bool:
    """Return whether one sample is a Series, or a table of one row."""
    return hasattr(x, "iloc") or hasattr(x, "columns")


def goes_by_names(attributes: Any, x: Any) -> bool:
    """Return whether one sample of a fitted learner is read by the names of columns.

    Parameters
    ----------
    attributes : dict
        Those of the learner.
    x : array-like
    """
    return "encoder_" in attributes or ("feature_names_in_" in attributes and has_names(x))


def row_of_table(x: Any) -> Any:
    """Return a Series, or a table of one row, as a table; as a row if its names are positions."""
    if hasattr(x, "columns"):
        if len(x) != 1:
            raise ValueError(f"x must be one sample, got a table of {len(x)} rows")
        return x
    if are_positions(list(x.index)):
        return [x.tolist()]
    return x.to_frame().T.infer_objects()


def row_of(estimator: Any, x: Any) -> Any:
    """Return one sample, encoded or ordered by names, as the core takes it; nothing learns it."""
    rows = encoded(estimator, one_row(x), start=False, learn=False)
    if not isinstance(rows, Encoded):
        if not has_names(x) and not getattr(estimator, "_categories", ()):
            return rows[0]
        with no_name_warnings():
            return estimator._rows(rows, estimator._fitted_model.dtype)[0]
    return rows.rows if sp.issparse(rows.rows) else rows.rows[0]


def learn_encoded(estimator: Any, x: Any, learn: Callable[[Any], Any]) -> Any:
    """Let the encoder of a fitted learner learn one sample, and the model learn the encoded one.

    Parameters
    ----------
    estimator : estimator
        One with an encoder; of its attributes only `encoder_` changes.
    x : dict or array-like
    learn : function of one sample
        It teaches the model.
    """
    with lock_of(estimator):
        encoder = estimator.encoder_._now()
        rows = encoded_by(encoder, one_row(x), learn=True)
        with UndoneOnFailure(estimator._model):
            learn(rows if sp.issparse(rows) else rows[0])
            estimator.encoder_ = encoder
    return estimator


def named_row(estimator: Any, x: Any, error: Exception) -> Any:
    """Return a dictionary that the core has refused as a list; raise the error otherwise."""
    if isinstance(error, KeyError):  # There is no model.
        return x
    row = row_of(estimator, x) if isinstance(x, dict) else x
    if row is not x:
        return row
    raise refused(estimator, x, error) from None


def refused(estimator: Any, x: Any, error: Exception) -> Exception:
    """Return the error to raise if the core has refused one sample: that of `partial_fit`."""
    if sp.issparse(x) or has_several_axes(x):
        return error
    return explained(estimator, one_row(x), error, estimator._takes_missing)


@contextmanager
def no_name_warnings() -> Iterator[None]:
    """Return a context without warnings of rows that lack names of features."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X (does not have valid|has) feature names")
        yield


def no_name_warnings_for(X: Any) -> AbstractContextManager[None]:
    """Return the context `no_name_warnings` if rows have names, by which they are put in order."""
    return no_name_warnings() if holds_rows_by_name(X) else nullcontext()


def learn_row(estimator: Any, x: Any, *arguments: Any, **named: Any) -> Any:
    """Call `partial_fit` with one sample, which may lack names of features."""
    if not hasattr(estimator, "feature_names_in_") and not has_names(x):
        return estimator.partial_fit(one_row(x), *arguments, **named)
    with no_name_warnings():
        return estimator.partial_fit(one_row(x), *arguments, **named)


def labels_in(y: Any) -> Any:
    """Return the sorted labels of all samples; ValueError unless there are two."""
    labels = np.unique(y)
    if len(labels) < 2:
        raise ValueError(f"y holds one class only ({labels.tolist()[0]!r}), not two or more")
    return labels


def labels_of(classes: Any) -> Any:
    """Return the sorted labels of the argument `classes`; ValueError unless there are two."""
    classes = plain_targets(classes)
    if np.ndim(classes) and np.size(classes):
        try:
            with np.errstate(invalid="ignore"):  # NaN may be cast to an integer.
                labels = unique_labels(classes)
        except (TypeError, ValueError) as error:
            shown = reprlib.repr(np.asarray(classes, dtype=object).tolist())
            shown += " of dtype object" * str(getattr(classes, "dtype", "")).count("object")
            raise type(error)(
                "classes must be labels of one kind, none of them missing: whole numbers, text, "
                f"truth or dates, got {shown}"
            ) from None
        if np.any(labels[1:] == labels[:-1]):
            raise ValueError(f"classes hold text that differs in its last \\0 only: {classes!r}")
        if len(labels) > 1:
            return labels
    raise ValueError(
        f"classes must hold at least two labels, in a list or an array, got {classes!r}"
    )


def has_more(labels: Any, known: Any) -> bool:
    """Return whether `labels` hold all of the sorted labels `known`, and more of their kind."""
    given = np.unique(labels)
    kinds = {given.dtype.kind, known.dtype.kind}
    alike = len(kinds) == 1 or kinds <= set("iuf")
    return alike and len(given) > len(known) and bool(np.isin(known, given).all())


def are_whole(labels: Any) -> bool:
    """Return whether labels are whole numbers."""
    return labels.dtype.kind in "biu" or bool((labels == np.floor(labels)).all())


def same_labels(labels: Any, known: Any) -> bool:
    """Return whether `labels` equal the sorted labels `known`."""
    given = np.asarray(labels)
    return given.dtype.kind == known.dtype.kind and np.array_equal(given, known)


def own_weight(weight: float) -> list[float] | None:
    """Return the weight of a single sample as `partial_fit` takes it."""
    try:
        number = float(weight)
    except (TypeError, ValueError):
        raise TypeError(f"sample_weight must be a number, got {weight!r}") from None
    return None if number == 1 else [number]


def wrong_type(name: str, wanted: str, value: Any) -> TypeError:
    """Return the TypeError for an argument that must be, or have, something else."""
    return TypeError(f"{name} must {wanted}, got {type(value).__name__}")


def one_of(option: str, value: Any, known: Any) -> None:
    """Raise ValueError, which names the option, unless a value is one of those known."""
    if value not in known:
        perhaps = near_names(str(value), known)
        raise ValueError(f"{option}: unknown {value!r}{perhaps}; known are {', '.join(known)}")


def near_names(name: str, known: Iterable[str]) -> str:
    """Return in brackets the known names that are like one, also by initials: krls, kernel-rls."""
    from difflib import get_close_matches

    forms: dict[str, str] = {}
    for one in known:
        *first, last = one.split("-")
        forms.setdefault("".join(word[:1] for word in first) + last, one)
    forms |= {one: one for one in known} | {one.lower(): one for one in known}
    near = dict.fromkeys(forms[form] for form in get_close_matches(name.lower(), forms))
    return f" (perhaps {' or '.join(near)})" if near else ""
