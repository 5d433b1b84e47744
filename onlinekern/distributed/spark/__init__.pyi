"""The public names of `onlinekern.distributed.spark`."""

from .fitting import fit as fit
from .streaming import learn_stream as learn_stream
