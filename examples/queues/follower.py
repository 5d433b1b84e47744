"""
A model that follows partitions of a queue
==========================================

The part of the recipe that knows no broker: `redis_streams.py` and `kafka_topic.py` read from one.
"""

import json
import os

import onlinekern
from onlinekern import StreamClassifier, TableEncoder, make_stream_pipeline

TARGET = "sold"
# What reading a message may raise, and what a model raises for a row that it does not take. The
# errors of memory and of models that diverge are not among them: they stop the program.
POISON = (ValueError, TypeError, KeyError, AttributeError)


def new_model():
    """Return a model that has learnt nothing.

    What an encoder guesses from the first call is said, so nothing depends on where that ends.
    """
    kinds = {"size": "number", "age": "number", "town": "category"}
    encoder = TableEncoder(kinds=kinds, max_categories=8)
    return make_stream_pipeline(encoder, StreamClassifier(random_state=0))


class Follower:
    """A model with the place up to which it has learnt, in one file.

    Parameters
    ----------
    path : path-like
        Its file; a model that has learnt nothing if there is none yet.
    every : int
        After so many messages the file is written.
    base : path-like, optional
        File of a model that each partition begins with; then `answer.py` can merge them.

    Attributes
    ----------
    places : dict of str to int or str
        Partition -> place of the last message that was taken, learnt or refused.
    refused : dict of str to list
        Partition -> places of the messages that no model can learn.
    """

    def __init__(self, path, every=500, base=None):
        self.path, self.every, self.taken = path, every, 0
        self.model, known = new_model() if base is None else onlinekern.load(base), {}
        if os.path.exists(path):
            self.model, known = onlinekern.load(path, return_metadata=True)
        self.places = known.get("places", {})
        self.refused = known.get("refused", {})

    def take(self, partition, messages):
        """Learn messages, pairs of place and text, in the order of their partition.

        RuntimeError if 20 or more messages are all refused: then it is the program that is wrong.
        """
        rows, refused = [], []
        for place, text in messages:
            try:
                row = json.loads(text)
                rows.append((place, row, row.pop(TARGET)))
            except POISON:
                refused.append(place)
        refused += self.learn(rows)
        if len(refused) == len(messages) >= 20:
            raise RuntimeError(f"{partition}: all {len(messages)} messages are refused")
        # In the order of the messages, however they are cut into calls.
        noted = self.refused.setdefault(partition, [])
        noted += [place for place, _ in messages if place in set(refused)]
        self.places[partition] = messages[-1][0]
        self.taken += len(messages)
        if self.taken >= self.every:
            self.save()

    def learn(self, rows):
        """Learn rows; if they are refused, each alone. Return the places of those that are."""
        if not rows:
            return []
        places, inputs, targets = zip(*rows, strict=True)
        try:
            # A call that fails leaves the model as it was.
            self.model.partial_fit(list(inputs), list(targets))
        except POISON:
            if len(rows) == 1:
                return [places[0]]
            return [place for row in rows for place in self.learn([row])]
        return []

    def save(self):
        """Write the model and its places, both or neither."""
        places = {"places": self.places, "refused": self.refused}
        self.model.save(self.path, metadata=places)
        self.taken = 0
