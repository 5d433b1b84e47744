"""
One model of all partitions
===========================

The models of the partitions, which several consumers write, are merged into one that answers for
all. Its file has the places of all of them. The consumers go on: their files are only read.

    python examples/queues/kafka_topic.py localhost:9092 models rows --base base.okn
    python examples/queues/answer.py models base.okn answer.okn
"""

import argparse
from pathlib import Path

import onlinekern


def answer(folder, base):
    """Return the merged model of the files of a folder, and the places up to which it has learnt.

    What a partition has learnt nothing yet says nothing, and is left out.
    """
    begun, places, models = onlinekern.load(base), {}, []
    for path in sorted(folder.glob("*.okn")):
        model, known = onlinekern.load(path, return_metadata=True)
        places |= known["places"]
        if model[-1].n_seen_ > begun[-1].n_seen_:
            models.append(model)
    return onlinekern.merge(models, base=begun) if models else begun, places


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("base", type=Path)
    parser.add_argument("answer", type=Path)
    options = parser.parse_args()
    model, places = answer(options.folder, options.base)
    model.save(options.answer, metadata={"places": places})
    print(f"{model[-1].n_seen_} messages of {len(places)} partitions")


if __name__ == "__main__":
    main()
