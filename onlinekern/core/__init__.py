"""The compiled core. The name -> class tables that end its modules are collected here."""

from onlinekern.core.budgets import BUDGETS
from onlinekern.core.confidence_rules import CONFIDENCE_RULES
from onlinekern.core.covariances import COVARIANCES
from onlinekern.core.discriminants import DISCRIMINANTS, STEPS
from onlinekern.core.evictions import EVICTIONS
from onlinekern.core.gates import GATES
from onlinekern.core.heads import HEADS
from onlinekern.core.kernels import KERNEL_ALIASES, KERNELS
from onlinekern.core.losses import LOSSES
from onlinekern.core.passive import PASSIVE_RULES
from onlinekern.core.penalties import PENALTIES
from onlinekern.core.rules import RULES as OTHER_RULES
from onlinekern.core.schedules import SCHEDULES
from onlinekern.core.steps import POINT_RULES

RULES = {**OTHER_RULES, **PASSIVE_RULES, **CONFIDENCE_RULES}

__all__ = [
    "BUDGETS",
    "COVARIANCES",
    "DISCRIMINANTS",
    "EVICTIONS",
    "GATES",
    "HEADS",
    "KERNELS",
    "KERNEL_ALIASES",
    "LOSSES",
    "PENALTIES",
    "POINT_RULES",
    "RULES",
    "SCHEDULES",
    "STEPS",
]
