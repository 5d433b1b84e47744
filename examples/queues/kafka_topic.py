"""
Learn a Kafka topic
===================

A model for each partition, in a folder that all consumers of the group see. Whoever is given a
partition loads its model and seeks to the place in that file; the offsets of the group are not
used. Every file is a model of a partition up to a place, and that place: a consumer that has lost
its partition and does not know it yet can write an older one, never a wrong one.

    pip install 'onlinekern[queues]'
    python examples/queues/kafka_topic.py localhost:9092 models rows
"""

import argparse
import time
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException
from follower import Follower


class Group:
    """The followers of the partitions that this consumer has now."""

    def __init__(self, folder, every, base=None):
        self.folder, self.every, self.base, self.followers = folder, every, base, {}

    def assigned(self, consumer, partitions):
        """Load the models of the partitions, and go to their places."""
        for one in partitions:
            name = f"{one.topic}-{one.partition}"
            follower = Follower(self.folder / f"{name}.okn", self.every, self.base)
            self.followers[name] = follower
            one.offset = follower.places[name] + 1 if name in follower.places else OFFSET_BEGINNING
        consumer.assign(partitions)

    def revoked(self, consumer, partitions):
        """Save the models: the partitions go to other consumers, which load them."""
        for one in partitions:
            self.followers.pop(f"{one.topic}-{one.partition}").save()

    def lost(self, consumer, partitions):
        """Forget the models: others have the partitions already."""
        for one in partitions:
            del self.followers[f"{one.topic}-{one.partition}"]

    def take(self, messages):
        """Learn messages, which are in the order of their partitions."""
        pieces = {}
        for message in messages:
            if message.error():
                # Also that a place is there no longer: `auto.offset.reset` passes nothing over.
                raise KafkaException(message.error())
            name = f"{message.topic()}-{message.partition()}"
            pieces.setdefault(name, []).append((message.offset(), message.value() or b""))
        for name, piece in pieces.items():
            if name in self.followers:
                self.followers[name].take(name, piece)


def follow(consumer, topic, group, idle):
    """Learn what is in the topic and what comes, until nothing has come for `idle` seconds."""
    consumer.subscribe(
        [topic], on_assign=group.assigned, on_revoke=group.revoked, on_lost=group.lost
    )
    last = time.monotonic()
    while time.monotonic() - last < idle:
        messages = consumer.consume(100, timeout=0.2)
        if messages:
            group.take(messages)
            last = time.monotonic()
    consumer.close()  # revokes what it has


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers")
    parser.add_argument("folder", type=Path)
    parser.add_argument("topic")
    parser.add_argument("--group", default="onlinekern")
    parser.add_argument("--every", type=int, default=500, help="messages between two saves")
    parser.add_argument("--base", type=Path, help="file of a model that all partitions begin with")
    parser.add_argument("--idle", type=float, default=float("inf"), help="seconds")
    options = parser.parse_args()
    consumer = Consumer(
        {
            "bootstrap.servers": options.servers,
            "group.id": options.group,
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "session.timeout.ms": 6000,
        }
    )
    group = Group(options.folder, options.every, options.base)
    follow(consumer, options.topic, group, options.idle)


if __name__ == "__main__":
    main()
