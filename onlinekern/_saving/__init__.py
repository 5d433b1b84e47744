"""Models in files: `save`, `load`. docs/files.md describes the format."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from onlinekern._documented import Documented


class Savable(Documented):
    """Mixin of the classes whose objects `load` reads back."""

    # Values of parameters that older files do not have, where the default is another one.
    _absent: ClassVar[dict[str, Any]] = {}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save to a file, which `onlinekern.load` reads: a safetensors file, without pickle.

        The file appears at once and whole, or not at all: it is written beside `path` and renamed.
        A model that is loaded goes on learning with the same bits as this one. A thread that
        teaches this one meanwhile waits until its state has been copied, not for the disk.

        Parameters
        ----------
        path : str or path-like
            A file there is replaced. Any name will do; the usual ending is ``.okn``.

        Raises
        ------
        TypeError
            If a parameter or an attribute cannot be saved, a function for example, or if the class
            is neither one of the library nor registered (`onlinekern.register`). Nothing is
            written.
        ValueError
            If a parameter or an attribute refers to itself or is nested too deep.
        OSError
            If the file cannot be written. A file that was there before is as it was.

        See Also
        --------
        onlinekern.load : Reads the file.

        Examples
        --------
        >>> import os, tempfile, onlinekern
        >>> X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
        >>> model = onlinekern.SPAClassifier(gamma=0.5, random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(os.path.join(folder, "model.okn"))
        ...     loaded = onlinekern.load(os.path.join(folder, "model.okn"))
        >>> bool((loaded.decision_function(X) == model.decision_function(X)).all())
        True
        """
        from onlinekern._saving.atomic import replacing

        contents = contents_of(self)
        with replacing(path) as stream:
            contents.write(stream)

    def __setstate__(self, state: Any) -> None:
        """Take over the attributes of a pickle; ValueError if they contradict each other."""
        from onlinekern._saving.consistency import complete

        super().__setstate__({**self._absent, **state})  # type: ignore[misc]
        try:
            complete(self)
        except ValueError as error:
            raise ValueError(
                f"the state of this {type(self).__name__} does not fit together: {error}"
            ) from None


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that its method `save` has written.

    No code of the file runs: it holds numbers, text and names of classes of this library. Still, a
    file of a stranger is a stranger's model; docs/files.md says what is checked.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    object
        The estimator or transformer. It goes on learning with the same bits as the one saved.

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
    from onlinekern._saving.model_file import read

    with open(path, "rb") as stream:
        return read(stream, os.fspath(path))


def contents_of(model: Any) -> Any:
    """What the file of a model will hold; no thread teaches the model meanwhile."""
    from onlinekern._calls import turn_of
    from onlinekern._saving.model_file import Contents

    with turn_of(model):
        return Contents.of(model)


def to_bytes(model: Any) -> bytes:
    """The file of a model, as bytes."""
    from io import BytesIO

    stream = BytesIO()
    contents_of(model).write(stream)
    return stream.getvalue()


def from_bytes(data: bytes, name: str) -> Any:
    """The model in the bytes of a file; `name` stands for its path in messages."""
    from io import BytesIO

    from onlinekern._saving.model_file import read

    return read(BytesIO(data), name)
