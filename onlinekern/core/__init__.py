"""The compiled core. The name -> class tables that end its modules are collected here."""

from importlib import import_module
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

from onlinekern.core.kernels.kernels import KERNEL_ALIASES as KERNEL_ALIASES
from onlinekern.core.kernels.kernels import KERNELS as KERNELS
from onlinekern.core.learning.losses import LOSSES as LOSSES
from onlinekern.core.learning.point_rules import PENALTIES as PENALTIES
from onlinekern.core.learning.point_rules import POINT_RULES as POINT_RULES
from onlinekern.core.learning.sampling import SAMPLERS as SAMPLERS
from onlinekern.core.learning.schedules import SCHEDULES as SCHEDULES
from onlinekern.core.models.sdrogd import DISCRIMINANTS as DISCRIMINANTS
from onlinekern.core.models.sdrogd import STEP_SIZES as STEP_SIZES


def joined(table: str, *modules: str) -> dict[str, Any]:
    """Return the tables of that name of several modules as one."""
    found = [getattr(import_module(f"onlinekern.core.{module}"), table) for module in modules]
    return {name: cls for own in found for name, cls in own.items()}


POLICIES = joined(
    "POLICIES",
    *("budgets.policy", "budgets.eviction", "budgets.bpa", "budgets.forgetron", "budgets.halving"),
    *("budgets.removal_projection", "budgets.merging", "budgets.projectron", "budgets.bolssvm"),
    *("models.dual_sgd", "budgets.quantisation", "budgets.affine_projection", "budgets.dependence"),
    *("budgets.recursive", "budgets.tracker"),
)
HEADS = joined("HEADS", "learning.heads", "learning.softmax_head")
RULES = joined(
    "RULES",
    *("learning.rules", "learning.second_order_rules", "learning.logistic_rules"),
    "budgets.projectron",
)
COVARIANCES = joined("COVARIANCES", "models.covariances", "models.sketched_covariance")
FEATURE_MAPS = joined(
    "FEATURE_MAPS",
    *("features.map", "features.hashed", "features.structured", "features.nystroem"),
    *("features.nested", "features.joined", "features.metric"),
)

__all__ = sorted(name for name in globals() if name.isupper())
