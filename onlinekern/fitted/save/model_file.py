"""Model files: the tree and the arrays of a model, with their format, version and checksum."""

from __future__ import annotations

import hashlib
import json
from typing import Any, BinaryIO, NamedTuple

from onlinekern._config import version as library_version
from onlinekern.estimators.savable import require
from onlinekern.estimators.types import Array
from onlinekern.fitted.save import container
from onlinekern.fitted.save.reader import Reader
from onlinekern.fitted.save.writer import Writer

FORMAT = 1
# The texts of a model file hold these.
KEYS = {"format", "format_version", "library_version", "class", "tree", "sha256"}
# What the caller has saved with the model, if that is anything.
OWN = "metadata"


class Contents(NamedTuple):
    """Contents of a model file; `own` is the text of the caller's metadata."""

    class_name: str
    tree: str
    arrays: dict[str, Array]
    own: str | None = None

    @classmethod
    def of(cls, model: Any, metadata: dict[str, Any] | None = None) -> Contents:
        """Return the contents of a model; TypeError or ValueError if it cannot be saved."""
        own = text_of(metadata) if metadata else None
        writer = Writer(model)
        tree = json.dumps(writer.nodes, separators=(",", ":"), allow_nan=False)
        return cls(type(model).__name__, tree, writer.arrays, own)

    def write(self, stream: BinaryIO) -> None:
        """Write the file."""
        metadata = {
            "format": "onlinekern",
            "format_version": str(FORMAT),
            "library_version": library_version(),
            "class": self.class_name,
            "tree": self.tree,
        }
        if self.own is not None:
            metadata[OWN] = self.own
        metadata["sha256"] = checksum(metadata, self.arrays)
        container.write(stream, self.arrays, metadata)


def text_of(metadata: Any) -> str:
    """Return metadata as JSON; TypeError unless JSON gives back exactly these."""
    if not isinstance(metadata, dict):
        raise TypeError(f"metadata must be a dictionary, got {metadata!r:.60}")
    for name, value in metadata.items():
        try:
            # JSON makes a text of a key that is a number, and a list of a tuple.
            same = isinstance(name, str) and json.loads(json.dumps(value, allow_nan=False)) == value
        except (TypeError, ValueError, RecursionError):
            same = False
        if not same:
            raise TypeError(
                "metadata must hold what JSON gives back as it is (texts as keys, lists, texts, "
                f"finite numbers, True, False, None), got {name!r}: {value!r:.60}"
            )
    return json.dumps(metadata, separators=(",", ":"))


def checksum(metadata: dict[str, str], arrays: dict[str, Array]) -> str:
    """Return the SHA-256 of all that is loaded."""
    digest = hashlib.sha256()
    keys = ("format_version", "library_version", "class", "tree", OWN)
    for key in filter(metadata.__contains__, keys):
        digest.update(f"{metadata[key]}\n".encode())
    for name in sorted(arrays):
        array = arrays[name]
        shape = ",".join(map(str, array.shape))
        digest.update(f"{name} {container.CODES[array.dtype]} {shape}\n".encode())
        digest.update(container.bytes_of(array))
    return digest.hexdigest()


def read(stream: BinaryIO, name: str) -> tuple[Any, dict[str, Any]]:
    """Return the model and the metadata in a file; `name` is the file's name in messages."""
    try:
        return restore(stream)
    except (OSError, MemoryError):
        raise
    except Exception as error:
        # The constructors of the parts may raise anything for a wrong state.
        raise ValueError(f"{name} {reason(error)}") from error


def reason(error: Exception) -> str:
    """Say what is wrong with a file, in a clause that follows its name."""
    if isinstance(error, NoModelFile):
        return str(error)
    return f"holds a damaged model: {type(error).__name__}: {error}"


class NoModelFile(ValueError):
    """Error for a file that is wrong as a whole."""


def restore(stream: BinaryIO) -> tuple[Any, dict[str, Any]]:
    """Return the model and the metadata of a file; any exception is a fault of the file."""
    header = header_of(stream)
    check_format(header.metadata)
    try:
        arrays = {name: container.read_array(stream, header, name) for name in header.entries}
    except ValueError as error:
        raise NoModelFile(str(error)) from error
    if checksum(header.metadata, arrays) != header.metadata["sha256"]:
        raise NoModelFile("is damaged: its checksum does not agree with its contents")
    model = Reader(json.loads(header.metadata["tree"], parse_constant=no_number), arrays).model
    if type(model).__name__ != header.metadata["class"]:
        raise ValueError(f"the model is no {header.metadata['class']}")
    own = json.loads(header.metadata.get(OWN, "{}"), parse_constant=no_number)
    require(isinstance(own, dict), "its metadata are no dictionary")
    return model, own


def header_of(stream: BinaryIO) -> container.Header:
    """Return the header of a file; raise NoModelFile if the format has none such."""
    start = stream.read(2)
    if not start:
        raise NoModelFile("is empty")
    try:
        return container.read_header(stream)
    except ValueError as error:
        if start[:1] == b"\x80" and start[1:] <= b"\x05":
            text = "is no file of save; it may be a pickle, which pickle.load reads: trust it first"
            raise NoModelFile(text) from error
        raise NoModelFile(str(error)) from error


def check_format(metadata: dict[str, str]) -> None:
    """Raise NoModelFile unless this version reads the format."""
    if metadata.get("format") != "onlinekern":
        raise NoModelFile("is a safetensors file, but holds no model of onlinekern")
    version = metadata.get("format_version", "")
    if not version.isdecimal() or not version.isascii() or len(version) > 9 or int(version) < 1:
        raise NoModelFile(f"is damaged: its format is {version[:20]!r}")
    if int(version) > FORMAT:
        raise NoModelFile(
            f"was written by onlinekern {metadata.get('library_version', '?')[:40]} in format "
            f"{version}; this onlinekern {library_version()} reads formats up to {FORMAT}: "
            "upgrade it"
        )
    if missing := KEYS - metadata.keys():
        raise NoModelFile(f"is damaged: it has no {min(missing)}")


def no_number(text: str) -> None:
    raise ValueError(f"it holds the number {text}")
