"""Saving and loading of models in files. docs/files.md describes the format."""

from __future__ import annotations

import os
from typing import Any, Literal, overload


@overload
def load(path: str | os.PathLike[str], *, return_metadata: Literal[False] = False) -> Any: ...


@overload
def load(
    path: str | os.PathLike[str], *, return_metadata: Literal[True]
) -> tuple[Any, dict[str, Any]]: ...


@overload
def load(path: str | os.PathLike[str], *, return_metadata: bool) -> Any: ...


def load(path: str | os.PathLike[str], *, return_metadata: bool = False) -> Any:
    """Load a model that its method `save` has written.

    No code of the file runs: it holds numbers, text and names of classes of this library. Still, a
    file of a stranger is a stranger's model; docs/files.md says what is checked.

    Parameters
    ----------
    path : str or path-like
    return_metadata : bool, default=False
        Whether to return what `save` was given as `metadata` too. Both come from one reading of the
        file, so they belong together even if another process replaces the file meanwhile.

    Returns
    -------
    model : object
        The estimator or transformer. It goes on learning with the same bits as the one saved.
    metadata : dict
        Only if `return_metadata` is True; empty if nothing was saved with the model.

    Raises
    ------
    ValueError
        If the file is damaged, is no model of onlinekern, or was written by a newer onlinekern in a
        format that this one does not know.
    OSError
        If the file cannot be read.
    MemoryError
        If there is not enough memory for the model.

    Examples
    --------
    >>> import os, tempfile, onlinekern
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     onlinekern.PAClassifier(C=0.1).save(os.path.join(folder, "model.okn"))
    ...     onlinekern.load(os.path.join(folder, "model.okn"))
    PAClassifier(C=0.1)
    """
    from onlinekern.fitted.save.model_file import read

    with open(path, "rb") as stream:
        model, metadata = read(stream, os.fspath(path))
    return (model, metadata) if return_metadata else model


def save_model(
    model: Any, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None
) -> None:
    """Write the file of a model, as its method `save` does; it appears whole or not at all."""
    from onlinekern.fitted.save.atomic import replacing

    contents = contents_of(model, metadata)
    with replacing(path) as stream:
        contents.write(stream)


def contents_of(model: Any, metadata: dict[str, Any] | None = None) -> Any:
    """Return what the file of a model will hold; no thread teaches the model meanwhile."""
    from onlinekern.estimators.atomic import lock_of
    from onlinekern.fitted.save.model_file import Contents

    with lock_of(model):
        return Contents.of(model, metadata)


def to_bytes(model: Any) -> bytes:
    """Return the file of a model as bytes."""
    from io import BytesIO

    stream = BytesIO()
    contents_of(model).write(stream)
    return stream.getvalue()


def from_bytes(data: bytes, name: str) -> Any:
    """Return the model in the bytes of a file; `name` stands for its path in messages."""
    from io import BytesIO

    from onlinekern.fitted.save.model_file import read

    return read(BytesIO(data), name)[0]
