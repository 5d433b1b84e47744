"""The base of all estimators and transformers: `save`, pickles, checks, their page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar, Self

SITE = "https://onlinekern.github.io/onlinekern"
# Counters of files may still be added to, in 64 bits.
MOST_COUNT = 1 << 62


def operations() -> Any:
    """Return the package `onlinekern.fitted`, which lies above: the first operation imports it."""
    from onlinekern import fitted

    return fitted


def require(holds: Any, otherwise: str) -> None:
    """Raise ValueError unless this holds of the attributes of what has been loaded."""
    if not holds:
        raise ValueError(otherwise)


class Savable:
    """Mixin of classes whose objects `load` reads back.

    `fit` begins with a check of their parameters, and their HTML picture links to their page of
    this library's site.
    """

    _doc_link_module = "onlinekern"
    _doc_link_template = SITE + "/generated/onlinekern.{estimator_name}.html"
    # Older files lack these parameters, whose default is another value.
    _absent: ClassVar[dict[str, Any]] = {}
    # The attribute of what has been learnt: who has it is fitted.
    _learnt_as: ClassVar[str] = ""
    # Parameters that a stream begins with: set later, they wait for `fit`.
    _begins_with: ClassVar[Any] = frozenset()

    def save(
        self,
        path: str | os.PathLike[str],
        metadata: dict[str, Any] | None = None,
        *,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Save to a file, which `onlinekern.load` reads: a safetensors file, without pickle.

        The file appears at once and whole, or not at all: it is written beside `path` and renamed.
        A model that is loaded goes on learning with the same bits as this one. A thread that
        teaches this one meanwhile waits until its state has been copied, not for the disk.

        Parameters
        ----------
        path : str or path-like
            A file there is replaced. Any name will do; the usual ending is ``.okn``. A URL such as
            ``s3://bucket/model.okn`` is written by fsspec; a store of objects shows the whole
            object or the one before.
        metadata : dict, optional
            What belongs to this state of the model, such as the place in a queue up to which it has
            learnt: texts as keys, and values that JSON gives back as they are. It is in the same
            file, so it appears with the model or not at all; ``load(path, return_metadata=True)``
            returns it. The model itself does not keep it.
        storage_options : mapping or None, default=None
            What the store of a URL is told, as by fsspec: keys, an endpoint. None: the environment
            tells it.

        Raises
        ------
        TypeError
            If `metadata` are no such dictionary, if a parameter or an attribute cannot be saved, a
            function for example, or if the class
            is neither one of the library nor registered (`onlinekern.register`). Nothing is
            written.
        ValueError
            If a parameter or an attribute refers to itself or is nested too deep.
        OSError
            If the file cannot be written. A file that was there before is as it was.
        ImportError
            If a package for the store of a URL is missing; the message names the extra.

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
        operations().save_model(self, path, metadata, storage_options)

    def set_params(self, **params: Any) -> Self:
        """Set parameters. An estimator that has learnt takes no value that `fit` would refuse.

        In a stream, parameters of the step take effect with the next sample, others (kernel, width,
        outputs, averaging) when the estimator is fitted anew, which the next call that learns says.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If there is no such parameter, or what has been learnt cannot go on with a value. The
            parameters stay as they were.
        """
        from onlinekern.estimators.atomic import lock_of

        with lock_of(self):
            before = {name: value for name, value in vars(self).items() if name in params}
            inner: dict[str, Any] = {}
            if any("__" in name for name in params):
                known = self.get_params()  # type: ignore[attr-defined]
                inner = {name: known[name] for name in known if name in params and "__" in name}
            try:
                super().set_params(**params)  # type: ignore[misc]
                if params and self.__sklearn_is_fitted__():
                    self._renew_parameters({**before, **inner})
            except Exception:
                vars(self).update(before)
                if inner:
                    super().set_params(**inner)  # type: ignore[misc]
                raise
        return self

    def _renew_parameters(self, before: dict[str, Any]) -> None:
        """Check parameters that were set in a stream, and let those take effect that can.

        `before` has the values that they had.
        """
        from onlinekern.estimators.parameters import check_parameters_of, note_waiting

        check_parameters_of(self)
        note_waiting(self, before)

    def _validate_params(self) -> None:
        """Raise InvalidParameterError for the first parameter that is not valid."""
        # Files are read without scikit-learn, as far as they hold none of its objects.
        from onlinekern.estimators.scikit_learn import check_parameters

        check_parameters(self)

    def _check_loaded(self) -> None:
        """Raise ValueError if the attributes that a file has given do not fit together."""

    def __sklearn_is_fitted__(self) -> bool:
        return self._learnt_as in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: the attributes of one moment, while other threads teach."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return state.copy()

    def __setstate__(self, state: Any) -> None:
        """Take over the attributes of a pickle; ValueError if they contradict each other."""
        super().__setstate__({**self._absent, **state})  # type: ignore[misc]
        try:
            operations().complete(self)
        except ValueError as error:
            raise ValueError(
                f"the state of this {type(self).__name__} does not fit together: {error}"
            ) from None
