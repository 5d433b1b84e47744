"""Runs that stop and go on: the same results as without a stop, and no checkpoint is trusted."""

import json
import os

import numpy as np
import pytest
from harness import kills
from sklearn.linear_model import LogisticRegression
from test_harnesses import run as run_harness

from onlinekern import OLLAClassifier, PAClassifier, SPAClassifier
from onlinekern.evaluate import checkpoint as _checkpoint
from onlinekern.evaluate import compare
from onlinekern.evaluate.checkpoint import Checkpoint, Period, Snapshot
from onlinekern.fitted.save.atomic import FileLock
from onlinekern.streams import Source, gaussian_mixture

resource = pytest.importorskip("resource")


class Stopped(Exception):
    """Stands for whatever ends a run."""


@pytest.fixture
def source():
    with Source.from_arrays(*gaussian_mixture(500, random_state=0)) as made:
        yield made


@pytest.fixture
def test_source(source):
    with Source.from_arrays(*gaussian_mixture(80, random_state=1), like=source) as made:
        yield made


def plain(comparison):
    """All figures of a comparison but the times."""
    return [
        (
            result.name,
            result.parameters,
            result.test_scores,
            [listed({**vars(run), "seconds": None}) for run in result.runs],
        )
        for result in comparison.methods
    ]


def listed(value):
    """Arrays as lists, in dicts too."""
    if isinstance(value, dict):
        return {name: listed(item) for name, item in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.fixture
def stop_after(monkeypatch):
    """Let the n-th checkpoint of a process be its last one."""

    def prepare(number):
        write, done = Checkpoint.write, []

        def last(self, *arguments):
            write(self, *arguments)
            done.append(None)
            if len(done) == number:
                raise Stopped

        monkeypatch.setattr(Checkpoint, "write", last)

    yield prepare
    monkeypatch.undo()


METHODS = "spa,bsgd-merge,olla"
OPTIONS = {"repeats": 2, "settings": {"budget": 15, "C": 1.0}, "seed": 3}


@pytest.mark.parametrize(("every", "delay"), [(150, None), ("0.001s", None), (150, 170), (60, 1)])
def test_a_run_that_stops_everywhere_ends_as_one_that_never_stopped(
    every, delay, source, test_source, tmp_path, monkeypatch
):
    """It is stopped after each of its checkpoints in turn."""
    options = OPTIONS | {"delay": delay}
    expected = plain(compare(METHODS, source, test=test_source, **options))
    path, write, stops = tmp_path / "run", Checkpoint.write, []

    def stop(self, *arguments):
        write(self, *arguments)
        stops.append(None)
        raise Stopped

    monkeypatch.setattr(Checkpoint, "write", stop)
    for _ in range(400):
        try:
            compare(METHODS, source, test=test_source, checkpoint=path, checkpoint_every=every,
                    resume=True, **options)  # fmt: skip
        except Stopped:
            if len(Snapshot.read(path).state["finished"].get("olla", {"runs": []})["runs"]) == 2:
                break
    assert len(stops) > 20
    monkeypatch.setattr(Checkpoint, "write", write)
    found = compare(METHODS, source, test=test_source, checkpoint=path, resume=True, **options)
    assert plain(found) == expected
    with pytest.raises(ValueError, match="delay was"):
        compare(METHODS, source, test=test_source, checkpoint=path, resume=True,
                **options | {"delay": 7})  # fmt: skip


def test_a_race_that_stops_after_every_rung_chooses_the_same(tmp_path, monkeypatch):
    """Its models are not saved: they learn again what they had learnt."""
    path, write, stops = tmp_path / "run", Checkpoint.write, []
    options = {"repeats": 1, "checkpoint_every": "0.0001s", "checkpoint": path, "resume": True}

    def stop(self, *arguments):
        write(self, *arguments)
        stops.append(None)
        raise Stopped

    with Source.from_arrays(*gaussian_mixture(2000, random_state=0)) as source:
        expected = plain(compare("linear-ogd,pa1", source, repeats=1))
        monkeypatch.setattr(Checkpoint, "write", stop)
        for _ in range(200):
            try:
                compare("linear-ogd,pa1", source, **options)
            except Stopped:
                if Snapshot.read(path).state["finished"]:
                    break
        assert len(stops) > 30
        monkeypatch.setattr(Checkpoint, "write", write)
        assert plain(compare("linear-ogd,pa1", source, **options)) == expected


def test_what_cannot_be_saved_begins_its_permutation_again(source, tmp_path, stop_after):
    class Own(PAClassifier):
        """A subclass that no file can hold."""

    methods = {
        "mine": Own(), "theirs": LogisticRegression(), "ours": SPAClassifier(gamma=0.5),
        "batch": OLLAClassifier(gamma=0.5),
    }  # fmt: skip
    expected = plain(compare(methods, source, repeats=2))
    options = {"repeats": 2, "checkpoint": tmp_path / "run", "checkpoint_every": 200}
    stop_after(5)  # one at the start, two or three in each permutation, one at the end
    with pytest.raises(Stopped):
        compare(methods, source, **options)
    snapshot = Snapshot.read(options["checkpoint"])
    assert list(snapshot.models) == ["ours", "batch"]
    assert 0 < snapshot.state["running"]["ours"]["n_samples"] <= 500
    found = compare(methods, source, resume=True, **options)
    assert plain(found) == expected


def test_a_finished_run_is_there_at_once(source, tmp_path):
    path = tmp_path / "run"
    first = compare("spa", source, checkpoint=path)
    again = compare("spa", source, checkpoint=path, resume=True)
    assert plain(first) == plain(again)
    assert [r.seconds for r in first.methods[0].runs] == [r.seconds for r in again.methods[0].runs]


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"seed": 1}, "seed was 0, is 1"),
        ({"repeats": 3}, "repeats was 2, is 3"),
        ({"methods": "pa1,spa"}, r'methods was \["spa"\], is \["pa1", "spa"\]'),
        ({"settings": {"eta": 0.5}}, r'settings was {}, is {"eta": 0.5}'),
        ({"data": 1, "seed": 1}, "seed was 0, is 1; data was"),
        ({"test": True}, "test was null, is "),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(options, difference, source, tmp_path):
    path = tmp_path / "run"
    compare("spa", source, repeats=2, checkpoint=path)
    before = path.read_bytes()
    options = {"methods": "spa", "repeats": 2, **options}
    X, y = gaussian_mixture(500, random_state=options.pop("data", 0))
    with Source.from_arrays(X, y) as other:
        if options.get("test"):
            options["test"] = other
        with pytest.raises(ValueError, match=f"run belongs to another run: {difference}"):
            compare(source=other, checkpoint=path, resume=True, **options)
    assert path.read_bytes() == before


def test_damaged_checkpoints(source, tmp_path):
    path = tmp_path / "run"
    expected = plain(compare("spa", source, checkpoint=path, checkpoint_every=200))
    whole, previous = path.read_bytes(), tmp_path / "run.previous"
    path.write_bytes(whole[:-5])
    with pytest.warns(UserWarning, match=r"run is cut off.*going on from .*run\.previous"):
        assert plain(compare("spa", source, checkpoint=path, resume=True)) == expected
    for data, reason in (
        (whole[:-20] + b"x" + whole[-19:], "is damaged: its checksum is wrong"),
        (whole.replace(b'"format_version":"1"', b'"format_version":"2"'), "has the format 2"),
        (whole.replace(b"onlinekern checkpoint", b"onlinekern checkpoynt"), "is no checkpoint"),
        (b"", "is no safetensors file"),
    ):
        path.write_bytes(data)
        previous.unlink(missing_ok=True)
        with pytest.raises(ValueError, match=f"the checkpoint .*run {reason}"):
            compare("spa", source, checkpoint=path, resume=True)


def test_a_file_that_is_there_is_not_overwritten(source, tmp_path):
    path = tmp_path / "run"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="resume goes on from it"):
        compare("spa", source, checkpoint=path)
    assert path.read_text() == "mine"
    with pytest.raises(ValueError, match="resume=True needs a checkpoint"):
        compare("spa", source, resume=True)


@pytest.mark.parametrize("every", ["", "0", "-1", 0, True, "30 minutes", "s", "0s", "1e3", None])
def test_intervals_are_checked(every):
    with pytest.raises(ValueError, match="--checkpoint-every must be a positive number"):
        Period.of(every, "--checkpoint-every")


def test_intervals():
    assert Period.of(5) == Period.of("5") == Period(samples=5)
    assert Period.of("2.5s") == Period(seconds=2.5)


def test_a_full_disk_leaves_the_last_checkpoint(source, tmp_path, monkeypatch):
    """Also without links, where the last one has its other name."""
    path = tmp_path / "run"
    expected = plain(compare("spa", source, repeats=2))
    write, sizes = Snapshot.write, []

    def full(self, stream):
        write(self, stream)
        sizes.append(None)
        if len(sizes) == 4:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Snapshot, "write", full)
    options = {"repeats": 2, "checkpoint": path, "checkpoint_every": 200}
    with pytest.raises(
        OSError, match=r"No space left on device: the run stops here; .*run is whol"
    ):
        compare("spa", source, **options)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run", "run.previous"]
    monkeypatch.setattr(Snapshot, "write", write)
    monkeypatch.setattr(_checkpoint.os, "link", lambda *_: (_ for _ in ()).throw(OSError(95, "")))
    assert plain(compare("spa", source, resume=True, **options)) == expected
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run", "run.previous"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_limit_of_a_files_size_and_the_command_line(tmp_path):
    pytest.importorskip("typer")
    kills.write_data(tmp_path, 2000)
    words = ["compare", "train.txt", "--methods", "spa,fogd", "--repeats", "2", "--gamma", "16"]
    kept = [*words, "--checkpoint", "run", "--checkpoint-every", "500"]

    def run(command, **limits):
        code = os.waitstatus_to_exitcode(os.waitpid(kills.start(tmp_path, command, **limits), 0)[1])
        return code, (tmp_path / "output").read_text()

    assert run(kept, largest_file=15_000) == (
        2,
        "onlinekern: error: run: File too large: the run stops here; run is whole, resume goes on "
        "from it\n",
    )
    assert Snapshot.read(tmp_path / "run").state["trials"]
    assert run([*kept, "--resume", "--json", "a.json"])[0] == 0
    assert run([*words, "--json", "b.json"])[0] == 0
    found, expected = (json.loads((tmp_path / n).read_text()) for n in ("a.json", "b.json"))
    assert kills.without_times(found) == kills.without_times(expected)


def test_leftovers_of_killed_writers_are_removed(source, tmp_path):
    for name in (".run.abc.tmp", ".other.abc.tmp", "run.previous.tmp"):
        (tmp_path / name).write_text("x")
    compare("spa", source, repeats=1, checkpoint=tmp_path / "run")
    names = sorted(os.listdir(tmp_path))
    assert ".run.abc.tmp" not in names
    assert ".other.abc.tmp" in names


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kills():
    printed = run_harness("kills", "--kills", 5, "--samples", 600, "--every", 150, "--methods",
                          "spa,bsgd-merge,nogd,arow,olla")  # fmt: skip
    assert "5 kills" in printed


def test_one_run_at_a_time_has_a_checkpoint(tmp_path):
    every, path = Period.of(100), tmp_path / "run"
    held = Checkpoint(path, every, {}, resume=False)
    held.write({}, {})
    for resume in (True, False):
        with pytest.raises(ValueError, match=rf"another run \(process {os.getpid()}\) has this"):
            Checkpoint(path, every, {}, resume)
    held.close()
    assert os.listdir(tmp_path) == ["run"]
    with pytest.raises(FileExistsError):
        Checkpoint(path, every, {}, resume=False)
    Checkpoint(path, every, {}, resume=True).close()


def test_a_full_disk_takes_a_lock(tmp_path, monkeypatch):
    def full(number, data):
        raise OSError(28, "No space left on device")

    path = str(tmp_path / "run.lock")
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        lock = FileLock(path, "another run", "wait for it")
    with pytest.raises(ValueError, match=r"another run \(process unknown\)"):
        FileLock(path, "another run", "wait for it")
    lock.release()
    FileLock(path, "another run", "wait for it").release()
    assert os.listdir(tmp_path) == []


def test_two_runs_on_one_checkpoint(tmp_path, source):
    path, found = tmp_path / "run", []

    def second(*_):
        if not found:
            with pytest.raises(ValueError, match=r"another run .*run\.lock is locked") as error:
                compare("spa", source, checkpoint=path, resume=True)
            found.append(str(error.value))

    first = compare("spa", source, checkpoint=path, checkpoint_every=100, progress=second)
    assert found
    again = compare("spa", source, checkpoint=path, resume=True)
    assert plain(again) == plain(first)
    assert not os.path.exists(f"{path}.lock")
