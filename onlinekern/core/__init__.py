"""The compiled core. The name -> class tables that end its modules are collected here."""

from typing import Any

try:
    import onlinekern.core.stream  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "onlinekern.core.stream":
        raise
    raise ImportError(
        f"onlinekern is imported from {__path__[0].rpartition('core')[0]}, which holds no core "
        "compiled for this Python: install it (pip install .) and start Python in another folder"
    ) from None

from onlinekern.core.budgets.affine_projection import POLICIES as AFFINE_PROJECTION
from onlinekern.core.budgets.bolssvm import POLICIES as BOLSSVM
from onlinekern.core.budgets.bpa import POLICIES as BPA
from onlinekern.core.budgets.dependence import POLICIES as DEPENDENCE
from onlinekern.core.budgets.eviction import POLICIES as RANDOM_EVICTION
from onlinekern.core.budgets.forgetron import POLICIES as FORGETRON
from onlinekern.core.budgets.halving import POLICIES as HALVING
from onlinekern.core.budgets.merging import POLICIES as MERGING
from onlinekern.core.budgets.policy import POLICIES as PLAIN
from onlinekern.core.budgets.projectron import POLICIES as PROJECTRON
from onlinekern.core.budgets.projectron import RULES as PROJECTRON_RULES
from onlinekern.core.budgets.quantisation import POLICIES as QUANTISATION
from onlinekern.core.budgets.recursive import POLICIES as RECURSIVE
from onlinekern.core.budgets.removal_projection import POLICIES as REMOVAL_PROJECTION
from onlinekern.core.budgets.tracker import POLICIES as TRACKER
from onlinekern.core.features.hashed import FEATURE_MAPS as HASHED
from onlinekern.core.features.joined import FEATURE_MAPS as JOINED
from onlinekern.core.features.map import FEATURE_MAPS as FOURIER
from onlinekern.core.features.metric import FEATURE_MAPS as METRIC
from onlinekern.core.features.nested import FEATURE_MAPS as NESTED
from onlinekern.core.features.nystroem import FEATURE_MAPS as NYSTROEM
from onlinekern.core.features.structured import FEATURE_MAPS as STRUCTURED
from onlinekern.core.kernels.kernels import KERNEL_ALIASES, KERNELS
from onlinekern.core.learning.heads import HEADS as SEPARATE
from onlinekern.core.learning.logistic_rules import LOGISTIC_RULES
from onlinekern.core.learning.losses import LOSSES
from onlinekern.core.learning.point_rules import PENALTIES, POINT_RULES
from onlinekern.core.learning.rules import FIRST_ORDER_RULES
from onlinekern.core.learning.sampling import SAMPLERS
from onlinekern.core.learning.schedules import SCHEDULES
from onlinekern.core.learning.second_order_rules import SECOND_ORDER_RULES
from onlinekern.core.learning.softmax_head import HEADS as SOFTMAX
from onlinekern.core.models.covariances import COVARIANCES as EXACT
from onlinekern.core.models.dual_sgd import POLICIES as DUAL_SGD
from onlinekern.core.models.sdrogd import DISCRIMINANTS, STEP_SIZES
from onlinekern.core.models.sketched_covariance import COVARIANCES as SKETCHED

POLICIES = {
    **PLAIN,
    **RANDOM_EVICTION,
    **BPA,
    **FORGETRON,
    **HALVING,
    **REMOVAL_PROJECTION,
    **MERGING,
    **PROJECTRON,
    **BOLSSVM,
    **DUAL_SGD,
    **QUANTISATION,
    **AFFINE_PROJECTION,
    **DEPENDENCE,
    **RECURSIVE,
    **TRACKER,
}
HEADS: dict[str, Any] = {**SEPARATE, **SOFTMAX}
RULES = {**FIRST_ORDER_RULES, **SECOND_ORDER_RULES, **LOGISTIC_RULES, **PROJECTRON_RULES}
COVARIANCES: dict[str, Any] = {**EXACT, **SKETCHED}
FEATURE_MAPS: dict[str, Any] = {
    **FOURIER,
    **HASHED,
    **STRUCTURED,
    **NYSTROEM,
    **NESTED,
    **JOINED,
    **METRIC,
}

__all__ = [
    "COVARIANCES",
    "DISCRIMINANTS",
    "FEATURE_MAPS",
    "HEADS",
    "KERNELS",
    "KERNEL_ALIASES",
    "LOSSES",
    "PENALTIES",
    "POINT_RULES",
    "POLICIES",
    "RULES",
    "SAMPLERS",
    "SCHEDULES",
    "STEP_SIZES",
]
