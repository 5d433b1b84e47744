"""The compiled core. The name -> class tables that end its modules are collected here."""

from onlinekern.core.budgets import BUDGETS
from onlinekern.core.discriminants import DISCRIMINANTS, STEPS
from onlinekern.core.gates import GATES
from onlinekern.core.heads import HEADS
from onlinekern.core.kernels import KERNEL_ALIASES, KERNELS
from onlinekern.core.losses import LOSSES
from onlinekern.core.penalties import PENALTIES
from onlinekern.core.rules import RULES
from onlinekern.core.schedules import SCHEDULES
from onlinekern.core.steps import POINT_RULES

__all__ = [
    "BUDGETS",
    "DISCRIMINANTS",
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
