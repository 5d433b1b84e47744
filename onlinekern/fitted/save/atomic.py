"""Writing of a file that appears whole or not at all, and locks of files."""

from __future__ import annotations

import errno
import glob
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import BinaryIO, Self

from onlinekern.fitted.save.stores import Options, is_stored, local_path, storing


def replacing(
    path: str | os.PathLike[str], storage_options: Options = None
) -> AbstractContextManager[BinaryIO]:
    """Return a context with a stream whose bytes become the file `path`, which may be a URL, when
    the block ends without an error."""
    if is_stored(path):
        return storing(os.fspath(path), storage_options)
    return replacing_local(local_path(path))


@contextmanager
def replacing_local(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a stream whose bytes become the file `path` when the block ends without an error.

    They are written to a temporary file of the same folder, which is forced to the disk and
    renamed. After an error, the temporary file is gone and a file that was at `path` is untouched.
    A process that is killed leaves it untouched, too, but may leave the temporary file.
    """
    # A link keeps pointing to the file that is replaced.
    target = os.path.realpath(os.fsdecode(path))
    try:
        mode = mode_of(target)
        folder, name = os.path.split(target)
        number, temporary = tempfile.mkstemp(prefix=f".{name[:50]}.", suffix=".tmp", dir=folder)
        try:
            with os.fdopen(number, "wb") as stream:
                os.fchmod(number, mode)
                yield stream
                stream.flush()
                os.fsync(number)
            os.replace(temporary, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        force_folder(folder)
    except OSError as error:
        # A full disk, for one, is reported without the file's name; mkstemp names its own file.
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove the temporary files of `replacing` that killed processes have left.

    No other process may be writing the file.
    """
    folder, name = os.path.split(os.path.realpath(os.fsdecode(path)))
    pattern = f".{glob.escape(name[:50])}.*.tmp"
    for leftover in glob.glob(os.path.join(glob.escape(folder), pattern)):
        with suppress(OSError):
            os.unlink(leftover)


def mode_of(target: str) -> int:
    """Return the permissions of a new file: the old one's, or what the process's mask leaves."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory")
    if not stat.S_ISREG(mode):
        # A rename would put a file in the place of the device or pipe.
        raise OSError(errno.EINVAL, "Not a regular file")
    return stat.S_IMODE(mode)


def force_folder(folder: str) -> None:
    """Force the entry of a new file to the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


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
