"""Partitions of a queue in the hands of several consumers: each message counts once."""

import json
import random
import shutil
from itertools import cycle

import pytest
from harness.queues import base_of, example, make_base, message, samples_of

import onlinekern

PARTITIONS = ("rows-0", "rows-1", "rows-2")
EVERY = 20


@pytest.fixture(scope="module")
def sent():
    """Messages of each partition, with places that are no counts."""
    moments = random.Random(7)
    return {
        name: [(3 * k + place, message(k, moments)) for k in range(110)]
        for place, name in enumerate(PARTITIONS)
    }


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    models = tmp_path_factory.mktemp("base") / "models"
    models.mkdir()
    make_base(models)
    return base_of(models)


@pytest.fixture
def folder(tmp_path, base):
    models = tmp_path / "models"
    models.mkdir()
    shutil.copy(base, base_of(models))
    return models


def follower(folder, name, every=EVERY):
    """Return what a consumer makes of a partition that it is given."""
    return example("follower").Follower(folder / f"{name}.okn", every, base_of(folder))


def left(known, name, messages):
    """Return the messages behind the place of a follower."""
    place = known.places.get(name, -1)
    return [one for one in messages if one[0] > place]


def whole(folder, name, messages):
    """Return the file of a consumer that has learnt all at once."""
    (folder / "whole").mkdir(exist_ok=True)
    known = follower(folder, f"whole/{name}", len(messages) + 1)
    known.take(name, messages)
    known.save()
    return known.path.read_bytes()


def hand_around(folder, name, messages, moments):
    """Learn a partition by consumers who are killed, are overtaken unaware, or give it up."""
    for deed in cycle(["killed", "overtaken", "given up"]):
        known, zombie = follower(folder, name), follower(folder, name)
        if not left(known, name, messages):
            return
        for _ in range(moments.randrange(1, 5)):
            if there := left(known, name, messages):
                known.take(name, there[: moments.randrange(1, 30)])
        if deed != "killed":
            known.save()
        if deed == "overtaken":
            # It learns what the other one has learnt, and writes an older state over the newer one.
            zombie.take(name, left(zombie, name, messages)[:11])
            zombie.save()


def test_a_partition_in_many_hands_has_the_bits_of_one(folder, sent):
    moments = random.Random(0)
    for name, messages in sent.items():
        hand_around(folder, name, messages, moments)
        assert (folder / f"{name}.okn").read_bytes() == whole(folder, name, messages)


def test_the_answer_counts_each_message_once(folder, sent):
    base = onlinekern.load(base_of(folder))
    for name, messages in sent.items():
        known = follower(folder, name)
        known.take(name, messages)
        known.save()
    follower(folder, "rows-3").save()  # a partition without messages
    parts = [onlinekern.load(folder / f"{name}.okn") for name in PARTITIONS]
    before = {path: path.read_bytes() for path in folder.glob("*.okn")}
    model, places = example("answer").answer(folder, base_of(folder))
    assert {path: path.read_bytes() for path in folder.glob("*.okn")} == before
    assert places == {name: messages[-1][0] for name, messages in sent.items()}
    new = sum(samples_of(part) - samples_of(base) for part in parts)
    assert samples_of(model) == samples_of(base) + new
    rows, targets = [], []
    for _, row, sold in readable(sent["rows-0"]):
        rows.append(row)
        targets.append(sold)
    assert model.score(rows, targets) > 0.95


def readable(messages):
    """Yield place, row and target of what can be learnt."""
    for place, text in messages:
        row = json.loads(text) if text.startswith("{") else {}
        if "sold" in row and isinstance(row["size"], int):
            yield place, row, row.pop("sold")


def test_the_answer_of_nothing_is_the_base(folder):
    model, places = example("answer").answer(folder, base_of(folder))
    assert places == {}
    assert samples_of(model) == samples_of(onlinekern.load(base_of(folder)))


def test_a_base_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        example("follower").Follower(tmp_path / "a.okn", base=tmp_path / "no.okn")
