"""Checkpoint files: what a long run has done so far, so that a run that was killed can go on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
import warnings
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np

from onlinekern.fitted.save import container
from onlinekern.fitted.save.atomic import FileLock, remove_leftovers, replacing
from onlinekern.fitted.save.stores import is_stored, local_path
from onlinekern.streams.errors import shown

FORMAT = 1
STATE = "state"
MODEL = "model "


@dataclass(frozen=True)
class Period:
    """The interval between two checkpoints: so many samples, or so many seconds."""

    samples: int | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, value: int | str, name: str = "checkpoint_every") -> Period:
        """Read 100000 or "100000" (samples), or "30s" (seconds); `name` is that of the option."""
        text = str(value).strip()
        if re.fullmatch(r"[0-9]{1,18}", text) and int(text) > 0 and not isinstance(value, bool):
            return cls(samples=int(text))
        found = re.fullmatch(r"([0-9]{1,9}(\.[0-9]*)?) *s", text)
        if found and float(found[1]) > 0:
            return cls(seconds=float(found[1]))
        raise ValueError(
            f"{name} must be a positive number of samples or seconds, such as 100000 or 30s, "
            f"got {value!r}"
        )


@dataclass(frozen=True)
class Snapshot:
    """The contents of a checkpoint.

    Attributes
    ----------
    options : dict
        What the run was asked for and on which data, as JSON has it: a checkpoint is of use only to
        the same run.
    state : dict
        How far the run has come, as JSON has it.
    models : dict of str to bytes
        Model files.
    """

    options: Mapping[str, Any]
    state: Mapping[str, Any]
    models: Mapping[str, bytes] = field(default_factory=dict)

    def write(self, stream: BinaryIO) -> None:
        """Write a safetensors file."""
        text = json.dumps({"options": self.options, "state": self.state}).encode()
        arrays = {MODEL + name: _array(data) for name, data in self.models.items()}
        arrays[STATE] = _array(text)
        metadata = {"format": "onlinekern checkpoint", "format_version": str(FORMAT)}
        container.write(stream, arrays, metadata | {"sha256": _checksum(arrays)})

    @classmethod
    def read(cls, path: str) -> Snapshot:
        """Read a file; ValueError names it if it is damaged or is no checkpoint."""
        try:
            with open(path, "rb") as stream:
                header = container.read_header(stream)
                _check_format(header.metadata)
                arrays = {name: container.read_array(stream, header, name)
                          for name in header.entries}  # fmt: skip
            if _checksum(arrays) != header.metadata.get("sha256"):
                raise ValueError("is damaged: its checksum is wrong")
            content = json.loads(arrays.pop(STATE).tobytes())
        except (ValueError, KeyError, TypeError) as error:
            reason = str(error) if isinstance(error, ValueError) else "is damaged"
            raise ValueError(f"the checkpoint {path} {reason}") from error
        models = {name.removeprefix(MODEL): array.tobytes() for name, array in arrays.items()}
        return cls(content["options"], content["state"], models)


def _array(data: bytes) -> Any:
    return np.frombuffer(data, dtype=np.uint8)


def _checksum(arrays: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].size}\n".encode())
        digest.update(container.bytes_of(arrays[name]))
    return digest.hexdigest()


def _check_format(metadata: Mapping[str, str]) -> None:
    if metadata.get("format") != "onlinekern checkpoint":
        raise ValueError("is no checkpoint of onlinekern")
    version = metadata.get("format_version", "")
    if version != str(FORMAT):
        raise ValueError(f"has the format {version[:20]}, this onlinekern knows {FORMAT} only")


class Checkpoint:
    """The checkpoint file of one run.

    The file is replaced at once or not at all, and the one before it stays under the name
    ``PATH.previous``. A run that is killed at any moment loses at most what it did since the last
    checkpoint. One run at a time has it, from the beginning to
    `close` or to the end of its process: two would overwrite each other's.

    Parameters
    ----------
    path : str or path-like
    every : Period
    options : dict
        What the run was asked for, as JSON has it. A checkpoint with other options is refused.
    resume : bool
        Go on from the file if there is one. Otherwise a file that is there is refused.

    Attributes
    ----------
    found : Snapshot or None
        The snapshot that was read.

    Raises
    ------
    ValueError
        If the file is damaged, or belongs to another run, and the message says what differs; if
        another run has it now; or if it is a URL.
    OSError
        If there is a file and `resume` is False, or if it cannot be read.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        every: Period,
        options: Mapping[str, Any],
        resume: bool,
    ) -> None:
        if is_stored(path):
            raise ValueError(f"the checkpoint {path} must be a file of this machine: runs lock it")
        self.path, self.every = os.fspath(local_path(path)), every
        # They are kept as they will be read back: tuples as lists, for example.
        self.options = json.loads(json.dumps(options))
        self.previous = f"{self.path}.previous"
        self._samples, self._written = 0, time.monotonic()
        advice = "Wait for it, or give this run a checkpoint of its own."
        try:
            lock = FileLock(f"{os.path.realpath(self.path)}.lock", "another run", advice)
        except OSError as error:
            text = f"{error.strerror or error}: the run stops here; nothing was written"
            raise type(error)(error.errno, text, self.path) from None
        # Whoever forgets to close gives the file up with the last reference.
        self.close = weakref.finalize(self, lock.release)
        try:
            self.found = self._read() if resume else None
            if not resume and os.path.lexists(self.path):
                text = "there is a file: resume goes on from it; or delete it to begin anew"
                raise FileExistsError(17, text, self.path)
            if self.found is not None:
                self._compare(self.found.options)
            remove_leftovers(self.path)
        except BaseException:
            self.close()
            raise

    def due(self, n_samples: int) -> bool:
        """Count samples; return whether it is time to write."""
        self._samples += n_samples
        if self.every.samples is not None:
            return self._samples >= self.every.samples
        return time.monotonic() - self._written >= (self.every.seconds or 0.0)

    def write(self, state: Mapping[str, Any], models: Mapping[str, bytes]) -> None:
        """Replace the file; OSError that says what is left if it cannot be written."""
        try:
            self._keep_previous()
            with replacing(self.path) as stream:
                Snapshot(self.options, state, models).write(stream)
        except OSError as error:
            kept = next((p for p in (self.path, self.previous) if os.path.isfile(p)), None)
            left = f"{kept} is whole, resume goes on from it" if kept else "nothing was written"
            text = f"{error.strerror or error}: the run stops here; {left}"
            raise OSError(error.errno, text, self.path) from error
        self._samples, self._written = 0, time.monotonic()

    def remove(self) -> None:
        """Remove the file: the run has ended."""
        for path in (self.path, self.previous):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    def _read(self) -> Snapshot | None:
        """Read the file, or the one before it if it is damaged; None if there is neither."""
        failure = None
        for path in (self.path, self.previous):
            try:
                snapshot = Snapshot.read(path)
            except FileNotFoundError:
                continue
            except ValueError as error:
                failure = failure or error
                continue
            if failure is not None:
                warnings.warn(f"{failure}: going on from {path}, the one before", stacklevel=2)
            return snapshot
        if failure is not None:
            raise failure
        return None

    def _compare(self, found: Mapping[str, Any]) -> None:
        """Raise ValueError if the file belongs to another run."""
        names = [name for name in {**found, **self.options}
                 if found.get(name) != self.options.get(name)]  # fmt: skip
        if names:
            differences = "; ".join(
                f"{name} was {shown(found.get(name))}, is {shown(self.options.get(name))}"
                for name in names
            )
            raise ValueError(f"the checkpoint {self.path} belongs to another run: {differences}")

    def _keep_previous(self) -> None:
        """Let the file have a second name, which it keeps when the first one is replaced."""
        if not os.path.exists(self.path):
            return
        link = f"{self.previous}.tmp"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(link)
        try:
            os.link(self.path, link)
        except OSError:  # a file system without links
            os.replace(self.path, self.previous)
            return
        os.replace(link, self.previous)
