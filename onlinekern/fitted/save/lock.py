"""The lock that gives a file one writer, and ends with the process."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Self

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class FileLock:
    """A file that one process holds; the system frees it when the process ends, however it ends.

    Parameters
    ----------
    path : str
        Of the lock, beside the file that it is for.
    holder : str
        Who holds it otherwise, for the message: "another server".
    advice : str
        What to do then.

    Raises
    ------
    ValueError
        If somebody else holds it, another process or this one; or if the system has no such locks.
    """

    def __init__(self, path: str, holder: str, advice: str) -> None:
        if fcntl is None:
            raise ValueError(f"this system has no file locks (flock): {advice}")
        self.path, self.holder, self.advice = path, holder, advice
        while not self._take():
            pass

    def _take(self) -> bool:
        """Take the lock; return False if its last holder removed the file meanwhile."""
        number = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(number, 20).decode("ascii", "replace").strip()
            os.close(number)
            raise ValueError(
                f"{self.holder} (process {owner or 'unknown'}) has this file: {self.path} is "
                f"locked. {self.advice}"
            ) from None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(number), os.stat(self.path)):
                # Who holds it is for a message: a full disk takes the lock without it.
                with suppress(OSError):
                    os.ftruncate(number, 0)
                    os.write(number, f"{os.getpid()}\n".encode())
                self._number = number
                return True
        os.close(number)
        return False

    def release(self) -> None:
        """Remove the file while it is held, and give it up."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)
        os.close(self._number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
