"""
Learn Redis streams
===================

A model for each stream goes on from the place in its file. Redis keeps no place: no consumer group,
no acknowledgement. The program may be killed at any moment; each message is learnt once.

    pip install 'onlinekern[queues]'
    python examples/queues/redis_streams.py unix:///run/redis.sock models rows-0 rows-1
"""

import argparse
import time
from pathlib import Path

import redis
from follower import Follower


def follow(client, folder, streams, every, idle, base=None):
    """Learn what is in the streams and what comes, until nothing has come for `idle` seconds."""
    followers = {name: Follower(folder / f"{name}.okn", every, base) for name in streams}
    last = time.monotonic()
    while time.monotonic() - last < idle:
        places = {name: one.places.get(name, "0-0") for name, one in followers.items()}
        for stream, messages in client.xread(places, count=100, block=200):
            last = time.monotonic()
            name = stream.decode()
            pieces = [(place.decode(), fields.get(b"row", b"")) for place, fields in messages]
            followers[name].take(name, pieces)
    for one in followers.values():
        one.save()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("folder", type=Path)
    parser.add_argument("streams", nargs="+")
    parser.add_argument("--every", type=int, default=500, help="messages between two saves")
    parser.add_argument("--base", type=Path, help="file of a model that all streams begin with")
    parser.add_argument("--idle", type=float, default=float("inf"), help="seconds")
    options = parser.parse_args()
    client = redis.Redis.from_url(options.url, protocol=2)
    follow(client, options.folder, options.streams, options.every, options.idle, options.base)


if __name__ == "__main__":
    main()
