"""The public names of `onlinekern.distributed.spark`."""

from .fitting import fit as fit
