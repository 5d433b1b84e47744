"""Files that lie in a store which fsspec reads and writes, such as ``s3://bucket/model.okn``."""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO
from urllib.request import url2pathname

# A letter and a colon begin a path of Windows.
PROTOCOL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)(://|::)")
# Protocol -> the extra that brings what reads it.
EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}
Options = Mapping[str, Any] | None


def local_path(path: Any) -> Any:
    """Return the path of ``file://`` URLs, and others as they are."""
    if isinstance(path, str) and path.startswith("file://"):
        return url2pathname(path.removeprefix("file://"))
    return path


def is_stored(path: Any) -> bool:
    """Return whether a name is the URL of a store, and no file of this machine."""
    if not isinstance(path, str) or path.startswith("file://"):
        return False
    return PROTOCOL.match(path) is not None and "://" in path and not os.path.lexists(path)


def store_of(url: str, options: Options) -> tuple[Any, str]:
    """Return the filesystem of a URL, and the path in it.

    Raises
    ------
    ValueError
        If the protocol is unknown.
    OSError
        If the store refuses.
    ImportError
        If a package is missing; the message names the extra.
    """
    protocol = url.partition(":")[0]
    extra = EXTRAS.get(protocol, "remote")
    try:
        from fsspec.core import url_to_fs

        with named_errors(url):
            store, path = url_to_fs(url, **(options or {}))
            # A listing that was made before may lack new files.
            store.invalidate_cache()
    except ImportError as error:
        raise ImportError(
            f"{url}: it needs more ({error}): pip install 'onlinekern[{extra}]'"
        ) from error
    except OSError as error:
        if isinstance(error.__cause__, ValueError) and "Protocol not known" in str(error):
            raise ValueError(f"{url}: unknown protocol {protocol!r}") from error
        raise
    return store, path


def opened(path: str | os.PathLike[str], options: Options) -> BinaryIO:
    """Open a file or a URL for reading in any place.

    What a URL names is fetched at once: if it is replaced meanwhile, that is the old file or the
    new one.
    """
    if not is_stored(path):
        return open(local_path(path), "rb")
    store, place = store_of(os.fspath(path), options)
    with named_errors(os.fspath(path)):
        return io.BytesIO(store.cat_file(place))


@contextmanager
def storing(url: str, options: Options) -> Iterator[BinaryIO]:
    """Yield a stream whose bytes become the file of a store when the block ends without an error.

    They are collected in a temporary file of this machine. Stores of objects (S3, GCS, Azure) show
    the whole object or the one before; others may show a part while it is written.
    """
    store, path = store_of(url, options)
    with tempfile.NamedTemporaryFile(prefix="onlinekern-") as stream:
        yield stream  # type: ignore[misc]
        stream.flush()
        with named_errors(url):
            store.put_file(stream.name, path)


def exists_stored(url: str) -> bool:
    """Return whether a store has a file; OSError if it does not tell."""
    store, path = store_of(url, None)
    with named_errors(url):
        try:
            return bool(store.info(path)["type"] == "file")
        except FileNotFoundError:
            return False


def check_stored(url: str, options: Options) -> None:
    """Raise OSError unless a file can be written: one beside it is written and removed."""
    store, path = store_of(url, options)
    with named_errors(url):
        store.pipe_file(f"{path}.try", b"onlinekern tries whether it may write here")
        store.rm_file(f"{path}.try")


@contextmanager
def named_errors(name: str) -> Iterator[None]:
    """Turn what a store raises, which may be of its own classes, into an OSError with a name."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(2, "No such file or directory", name) from error
    except ImportError:
        raise
    except Exception as error:
        number = getattr(error, "errno", None) or (13 if isinstance(error, PermissionError) else 5)
        text = " ".join(str(error).split()) or type(error).__name__
        raise OSError(number, text, name) from error
