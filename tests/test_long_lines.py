"""Lines of text too long to be samples: refused with the line's number, in bounded memory."""

import pytest
import sklearn.datasets

from onlinekern.streams import StreamError, open_source
from onlinekern.streams.formats import binary


def write(path, text):
    path.write_text(text)
    return path


def test_endless_line_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(binary, "CHUNK_BYTES", 64)
    monkeypatch.setattr(binary, "LONGEST_LINE", 1000)
    with pytest.raises(StreamError, match="line 1: longer than"):
        open_source(write(tmp_path / "a", "1 " * 1000))


def test_a_line_of_millions_of_words_is_refused_before_they_are_objects(tmp_path, monkeypatch):
    monkeypatch.setattr(binary, "CHUNK_BYTES", 4096)
    monkeypatch.setattr(sklearn.datasets, "load_svmlight_file", None)  # it splits the line
    with pytest.raises(StreamError, match=r"a, line 1: \d+ entries are not index:value"):
        open_source(write(tmp_path / "a", "a " * 10_000 + "\n"))


def test_a_long_line_of_samples_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(binary, "CHUNK_BYTES", 4096)
    values = "   ".join(f"{j}:{j}" for j in range(1, 5000))
    with open_source(write(tmp_path / "a", f"1 {values}\n-1 1:2\n")) as source:
        X, _ = source.head(1)
        assert X.shape == (1, 4999)
        assert X.sum() == 4999 * 5000 / 2
