"""Readers of files, fuzzed: damaged LIBSVM, CSV, Parquet and packed files, and standard input.

Whatever the bytes are, a reader gives finite rows or raises StreamError (a ValueError) or OSError,
within a bound of memory and of time. Each process works under that bound (RLIMIT_AS, an alarm).
"""

import bz2
import faulthandler
import gzip
import io
import lzma
import random
import resource
import signal
import sys
import tempfile
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from scipy import sparse

from harness.reports import Report, run
from onlinekern.streams import StreamError, open_source, read_blocks
from onlinekern.streams.files import read_tables
from onlinekern.streams.formats.reading import PLAIN, Reading

MOST_BYTES = 768 << 20
MOST_SECONDS = 20
LIBSVM = (
    b"".join(
        b"%+d 1:%g %d:-0.25 7:1e-3 # comment %d\n" % (1 - 2 * (i % 2), i / 4, 2 + i % 4, i)
        for i in range(24)
    )
    + b"1 qid:3 2:1\n-1\n"
)
CSV = b"kind,amount,hour,day\n" + b"".join(
    b'%s,%g,%d,"%d"\r\n' % ((b"ok", b"fraud", b'"a, b"')[i % 3], i / 8, i % 24, i % 7)
    for i in range(24)
)
NUMBERS = b"y,a,b\n" + b"".join(b"%d,%g,%g\n" % (i % 2, i / 8, -i) for i in range(24))
# As spreadsheets write where the comma stands before decimals.
COMMAS = b"y;a;b\n" + b"".join(
    b"%d,5;-%d,%03d;%s\n" % (i, i % 7, i, (b"1", b"2,25")[i % 2]) for i in range(24)
)
OF_COMMAS = Reading(separator=";", decimal=",")
TOKENS = [
    b"nan", b"inf", b"-inf", b"1e308", b"1e400", b"-1e-400", b"2147483647", b"2147483648",
    b"4294967297", b"9223372036854775808", b"99999999999999999999999", b"-1", b"0x10", b"1_000",
    b"\0", b"\0\0\0\0", b"\xff\xfe", b"\xc3\x28", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\r", b"\n",
    b"\r\n\r\n", b"\x1a", b'"', b'""' * 40, b'"' * 999, b",", b"," * 300, b":", b"::", b"1:", b":1",
    b" ", b"\t", b"#", b"qid:", b"qid:1", b"qid:-9223372036854775809", b"999999999:1",
    b"2147483646:1", b"0:1", b"1:1 1:1", b"5:1 3:1", b"9" * 400, b"1" * 5000 + b":1", b"e" * 70,
    b"None", b"true", b"\xd9\xa1", b"+", b"--1", b"1e", b".", b"1.2.3",
]  # fmt: skip


def parquet_bytes(target, **options):
    """Return a small table in Parquet, its target text or numbers."""
    import pyarrow as pa
    from pyarrow import parquet

    n = 40
    targets = {"kind": ["ok", "fraud"] * (n // 2), "y": list(range(n))}
    table = pa.table({
        target: targets[target], "a": [i / 8 for i in range(n)],
        "b": pa.array([i % 5 for i in range(n)], pa.int16()), "c": [bool(i % 2) for i in range(n)],
    })  # fmt: skip
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, **options)
    return buffer.getvalue()


def corpus():
    """Return [(suffix, bytes, target, reading)]: the files that are damaged."""
    packers = {".gz": lambda data: gzip.compress(data, mtime=0), ".bz2": bz2.compress,
               ".xz": lzma.compress}  # fmt: skip
    files = [
        (".libsvm", LIBSVM, None), (".csv", CSV, "kind"), (".csv", NUMBERS, "y"),
        (".tsv", NUMBERS.replace(b",", b"\t"), "y"), ("-", LIBSVM, None),
        (".parquet", parquet_bytes("kind", compression="none"), "kind"),
        (".parquet", parquet_bytes("y", compression="snappy", row_group_size=10), "y"),
        (".parquet", parquet_bytes("y", use_dictionary=False, version="1.0"), "y"),
    ]  # fmt: skip
    packed = [(f".libsvm{end}", pack(LIBSVM), None) for end, pack in packers.items()]
    packed += [(".csv.gz", packers[".gz"](CSV), "kind"), ("-", packers[".gz"](LIBSVM), None)]
    plain = [(*file, PLAIN) for file in files + packed]
    words = COMMAS.replace(b"1\n", b"one\n")
    return [*plain, (".csv", COMMAS, "y", OF_COMMAS), (".csv", words, "b", OF_COMMAS)]


def mutate(data, draw):
    """Return the bytes with one to four changes."""
    data = bytearray(data)
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        at = draw.randrange(len(data) + 1)
        length = min(draw.choice([1, 1, 2, 4, 16, 100]), len(data) - at)
        change = draw.randrange(8)
        if change == 0:
            data[at:at] = draw.choice(TOKENS)
        elif change == 1:
            data[at : at + length] = draw.choice(TOKENS)
        elif change == 2 and at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        elif change == 3:
            data[at : at + length] = draw.randbytes(length)
        elif change == 4:
            del data[at:]
        elif change == 5:
            del data[at : at + length]
        elif change == 6:
            data[at:at] = data[at : at + length] * draw.choice([1, 2, 30])
        else:
            replace_number(data, at, draw)
    return bytes(data)


def replace_number(data, at, draw):
    """Put a token in place of the word that begins after a position."""
    while at < len(data) and not chr(data[at]).isalnum():
        at += 1
    end = at
    while end < len(data) and chr(data[end]).isalnum():
        end += 1
    data[at:end] = draw.choice(TOKENS)


def check_rows(X, y, n_features=None):
    """Raise AssertionError unless the rows can be learnt from."""
    assert X.shape[0] == len(y)
    assert n_features is None or X.shape[1] == n_features
    values = X.data if sparse.issparse(X) else X
    assert np.isfinite(values).all()
    assert y.dtype.kind == "U" or np.isfinite(y).all()
    if sparse.issparse(X) and X.nnz:
        assert X.indices.min() >= 0
        assert X.indices.max() < X.shape[1]


def read(path, target, reading, once):
    """Read a file, straight through or into a source."""
    if once and reading != PLAIN:
        for X, y in read_tables(path, target, reading=reading):
            assert X.num_rows == len(y)
            assert y.dtype.kind == "U" or np.isfinite(y).all()
        return
    if once:
        blocks = read_blocks(path, target, n_features=None if target else 8)
        for X, y in blocks:
            check_rows(X, y, len(blocks.feature_names) if target else 8)
        return
    with open_source(path, target, reading=reading) as source:
        count = 0
        for X, y in source.blocks(random_state=0):
            check_rows(X, y, source.n_features)
            count += len(y)
        assert count == source.n_samples


def attempt(suffix, data, target, reading, once, folder):
    """Return what a reader did with these bytes: 'read', 'refused', or what is wrong."""
    path = folder / f"file{suffix}"
    stdin = mock.Mock(buffer=io.BufferedReader(io.BytesIO(data)))
    if suffix != "-":
        path.write_bytes(data)
    try:
        with mock.patch.object(sys, "stdin", stdin):
            signal.alarm(MOST_SECONDS)
            read("-" if suffix == "-" else path, target, reading, once)
        return "read"
    except StreamError as error:
        named = "standard input" if suffix == "-" else str(path)
        return "refused" if named in str(error) else f"no file named: {error}"
    except OSError as error:
        return "refused" if error.errno else f"OSError without a number: {error}"
    except (Exception, TooLong) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)


class TooLong(BaseException):
    """Error of a reader that took more time than it may."""


def stop(*_):
    raise TooLong(f"more than {MOST_SECONDS} s")


def limit_memory():
    """Let this process have a bounded number of bytes more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


def try_files(job):
    """Return the report of so many mutations; job is (seed, number, folder for findings)."""
    seed, number, keep = job
    faulthandler.enable()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, stop)
    files, report = corpus(), Report()
    with tempfile.TemporaryDirectory() as folder:
        for suffix, data, target, reading in files:
            for once in (False, True):
                outcome = attempt(suffix, data, target, reading, once, Path(folder))
                assert outcome == "read", f"{suffix} of the corpus: {outcome}"
        limit_memory()
        for i in range(number):
            draw = random.Random(f"{seed} {i}")
            suffix, data, target, reading = draw.choice(files)
            damaged, once = mutate(data, draw), draw.random() < 0.5
            outcome = attempt(suffix, damaged, target, reading, once, Path(folder))
            report.count("mutations")
            report.count(outcome if outcome in ("read", "refused") else "faults")
            if outcome not in ("read", "refused"):
                report.find(f"{suffix}, seed {seed}, number {i}, once {once}: {outcome[:300]}")
                if keep:
                    (Path(keep) / f"{seed}-{i}{suffix}").write_bytes(damaged)
    return report


def jobs(options):
    share = -(-options.number // options.processes)
    return [(options.seed + k, share, options.keep) for k in range(options.processes)]


def main():
    """Try a `number` of mutations; `keep` files that are findings in a folder."""
    return run(try_files, jobs, names=False, number=500, keep=None)


if __name__ == "__main__":
    sys.exit(main())
