"""Saving and loading of models in files. docs/files.md describes the format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, overload


@overload
def load(
    path: str | os.PathLike[str],
    *,
    return_metadata: Literal[False] = False,
    storage_options: Mapping[str, Any] | None = None,
) -> Any: ...


@overload
def load(
    path: str | os.PathLike[str],
    *,
    return_metadata: Literal[True],
    storage_options: Mapping[str, Any] | None = None,
) -> tuple[Any, dict[str, Any]]: ...


@overload
def load(
    path: str | os.PathLike[str],
    *,
    return_metadata: bool,
    storage_options: Mapping[str, Any] | None = None,
) -> Any: ...


def load(
    path: str | os.PathLike[str],
    *,
    return_metadata: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> Any:
    """Load a model that its method `save` has written.

    No code of the file runs: it holds numbers, text and names of classes of this library. Still, a
    file of a stranger is a stranger's model; docs/files.md says what is checked.

    Parameters
    ----------
    path : str or path-like
        A file, or a URL of a store that fsspec reads, such as ``s3://bucket/model.okn``.
    return_metadata : bool, default=False
        Whether to return what `save` was given as `metadata` too. Both come from one reading of the
        file, so they belong together even if another process replaces the file meanwhile.
    storage_options : mapping or None, default=None
        What the store of a URL is told, as by fsspec: keys, an endpoint. None: the environment
        tells it.

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
    ImportError
        If a package for the store of a URL is missing; the message names the extra.
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
    from onlinekern.fitted.save.stores import opened

    with opened(path, storage_options) as stream:
        model, metadata = read(stream, os.fspath(path))
    return (model, metadata) if return_metadata else model


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    metadata: dict[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Write the file of a model, as its method `save` does; it appears whole or not at all."""
    from onlinekern.fitted.save.atomic import replacing

    contents = contents_of(model, metadata)
    with replacing(path, storage_options) as stream:
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
