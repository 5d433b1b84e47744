"""Learn with kernels that outliers do not disturb: a template of an extension of onlinekern."""

import onlinekern
from robust_kernels.estimators import RobustClassifier
from robust_kernels.parts import Cauchy, MostAlikeEviction, Ramp

# Files of `save` may hold objects of these classes. Who imports this package can load them.
for added in (Cauchy, MostAlikeEviction, Ramp, RobustClassifier):
    onlinekern.register(added)

__all__ = ["Cauchy", "MostAlikeEviction", "Ramp", "RobustClassifier"]
