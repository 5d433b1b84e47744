"""The public names of `onlinekern.distributed`."""

from .fitting import compare as compare
from .fitting import fit as fit
from .fitting import predict as predict
from .preflight import WorkerUnfit as WorkerUnfit
from .record import ClusterLost as ClusterLost
from .record import DistributedFit as DistributedFit
from .record import Round as Round
