"""The public names of `onlinekern.drift`."""

from .classifier import ClassifierDetector as ClassifierDetector
from .losses import LossDetector as LossDetector
from .mmd import MMDDetector as MMDDetector
from .renewed import RenewedLearner as RenewedLearner
