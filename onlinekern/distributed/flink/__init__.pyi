"""The public names of `onlinekern.distributed.flink`."""

from .fitting import fit as fit
from .streaming import KeyedStreams as KeyedStreams
from .streaming import learn_stream as learn_stream
