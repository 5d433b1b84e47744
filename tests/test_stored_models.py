"""Model files at URLs: saved whole or not at all, loaded, and used by the commands."""

import io

import numpy as np
import pytest
from commands import run
from stores import s3_server

import onlinekern
from onlinekern import OGDRegressor, OnlineStandardScaler, PAClassifier, make_stream_pipeline
from onlinekern.fitted.save.stores import is_stored

fsspec = pytest.importorskip("fsspec")

X = np.random.default_rng(0).normal(size=(200, 3))
Y = X[:, 0] > 0


@pytest.fixture
def memory():
    store = fsspec.filesystem("memory")
    store.store.clear()
    yield store
    store.store.clear()


def check(model, url, **options):
    """Save to a URL, twice, and load."""
    model.save(url, {"rows": 1}, **options)
    model.save(url, {"rows": 2}, **options)
    loaded, metadata = onlinekern.load(url, return_metadata=True, **options)
    assert metadata == {"rows": 2}
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    loaded.partial_fit(X, Y)
    np.testing.assert_array_equal(loaded.predict(X), model.partial_fit(X, Y).predict(X))


def test_stores_hold_models(memory, tmp_path):
    check(PAClassifier().fit(X, Y), "memory://models/day=1/model.okn")
    pipeline = make_stream_pipeline(OnlineStandardScaler(), PAClassifier())
    pipeline.partial_fit(X, Y, classes=[False, True])
    check(pipeline, "memory://models/pipeline.okn")
    check(OGDRegressor().fit(X, Y), f"file://{tmp_path}/model.okn")
    assert (tmp_path / "model.okn").is_file()
    found = memory.cat_file("/models/pipeline.okn")
    (tmp_path / "same.okn").write_bytes(found)
    assert onlinekern.load(str(tmp_path / "same.okn")).n_features_in_ == 3
    assert memory.find("/") == ["/models/day=1/model.okn", "/models/pipeline.okn"]


def test_names_that_only_look_like_urls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a::b.okn", "c:d.okn"):
        PAClassifier().save(name)
        assert (tmp_path / name).is_file()
        assert onlinekern.load(name).get_params() == PAClassifier().get_params()
    assert not is_stored(tmp_path)


def test_faults_name_the_url(memory, monkeypatch):
    url = "memory://models/model.okn"
    with pytest.raises(FileNotFoundError, match=url):
        onlinekern.load(url)
    with pytest.raises(ValueError, match="unknown protocol 'nonsense'"):
        PAClassifier().save("nonsense://bucket/model.okn")
    PAClassifier(C=2.0).fit(X, Y).save(url)
    with pytest.raises(TypeError, match="metadata"):
        PAClassifier(C=3.0).save(url, metadata={"a": object()})
    monkeypatch.setattr(type(memory), "put_file", lambda *_, **__: 1 / 0)
    with pytest.raises(OSError, match=f"division by zero.*{url}"):
        PAClassifier(C=3.0).save(url)
    assert onlinekern.load(url).C == 2.0
    memory.pipe_file("/models/model.okn", memory.cat_file("/models/model.okn")[:-9])
    with pytest.raises(ValueError, match=f"{url} is cut off"):
        onlinekern.load(url)


def test_checkpoints_that_are_locked_stay_here(memory):
    from onlinekern.evaluate.checkpoint import Checkpoint, Period

    with pytest.raises(ValueError, match=r"memory://a\.checkpoint must be a file of this machine"):
        Checkpoint("memory://a.checkpoint", Period.of(10), {}, False)


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A table, and the folder of the process, which is empty."""
    pytest.importorskip("typer", reason="needs the extra cli")
    pytest.importorskip("rich", reason="needs the extra cli")
    pytest.importorskip("pyarrow", reason="needs the extra cli")
    text = io.StringIO()
    np.savetxt(text, np.c_[X, Y], delimiter=",", header="a,b,c,y", comments="")
    (tmp_path / "rows.csv").write_text(text.getvalue())
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "rows.csv"


def use(capsys, rows, model, answers):
    """Train, look at, and use a model at a URL; return the answers' number of lines."""
    code, out, err = run(
        capsys, "train", rows, "--target", "y", "-o", model, "--method", "pa1",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "200 samples" in out
    code, out, err = run(capsys, "info", model)
    assert (code, err) == (0, "")
    assert "samples learnt: 200" in out
    code, _, err = run(capsys, "predict", model, rows, "--target", "y", "-o", answers)
    assert (code, err) == (0, "")


def test_commands(memory, rows, capsys, tmp_path):
    use(capsys, rows, "memory://models/model.okn", "memory://models/answers.txt")
    assert len(memory.cat_file("/models/answers.txt").split()) == 200
    # Neither the checkpoint nor what was written to try is left.
    assert memory.find("/") == ["/models/answers.txt", "/models/model.okn"]
    assert list((tmp_path / "here").iterdir()) == []
    code, _, err = run(capsys, "export", "memory://models/model.okn", "-o", tmp_path / "m.c")
    assert (code, err) == (0, "")
    for option in ("--json", "--report"):
        code, _, err = run(
            capsys, "train", rows, "--target", "y", "-o", "m.okn", option, "memory://a.html"
        )
        assert (code, err.count("\n")) == (2, 1)
        assert "memory://a.html: a file of this machine is needed" in err
    code, _, err = run(capsys, "predict", "memory://models/none.okn", rows)
    assert (code, err.count("\n")) == (2, 1)
    assert "memory://models/none.okn" in err


def test_s3(monkeypatch, capsys, rows):
    with s3_server(monkeypatch) as (endpoint, store):
        store.mkdir("models")
        url, options = "s3://models/model.okn", {"storage_options": {"endpoint_url": endpoint}}
        check(PAClassifier().fit(X, Y), url, **options)
        with pytest.raises(OSError, match=r"s3://missing/model\.okn"):
            PAClassifier().save("s3://missing/model.okn", **options)
        with pytest.raises(FileNotFoundError, match=r"s3://models/none\.okn"):
            onlinekern.load("s3://models/none.okn", **options)
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        use(capsys, rows, url, "s3://models/answers.txt")
        # The store is known to this process only by what it was told first.
        store.invalidate_cache()
        assert store.ls("models") == ["models/answers.txt", "models/model.okn"]
        code, _, err = run(capsys, "train", rows, "--target", "y", "-o", "s3://missing/model.okn")
        assert (code, err.count("\n")) == (2, 1)
        assert "s3://missing/model.okn" in err
