"""Online and budgeted kernel learning on streams, at C speed, under the scikit-learn contract."""

from importlib.metadata import version as _version
from pathlib import Path as _Path

from onlinekern._registry import all_estimators
from onlinekern.bogd import BOGDClassifier, BOGDRegressor
from onlinekern.bsgd import BSGDClassifier, BSGDRegressor
from onlinekern.budgeted import BPAClassifier, BPARegressor, ForgetronClassifier, RBPClassifier
from onlinekern.core.base.vector import available_levels as _available_levels
from onlinekern.core.base.vector import level as _level
from onlinekern.dual import DualSGDClassifier, DualSGDRegressor
from onlinekern.features import FourierFeatures, NystroemFeatures
from onlinekern.kernel import (
    KernelOGDClassifier,
    KernelOGDRegressor,
    KernelPegasosClassifier,
    KernelPerceptronClassifier,
)
from onlinekern.linear import OGDClassifier, OGDRegressor, PegasosClassifier, PerceptronClassifier
from onlinekern.linear_pa import PAClassifier, PARegressor
from onlinekern.local import LOLClassifier
from onlinekern.mapped import FOGDClassifier, FOGDRegressor, NOGDClassifier, NOGDRegressor
from onlinekern.olla import OLLAClassifier, OLLARegressor
from onlinekern.oskl import OSKLClassifier
from onlinekern.passive_aggressive import KernelPAClassifier, KernelPARegressor
from onlinekern.projection import BOLSSVMClassifier, ProjectronClassifier
from onlinekern.sdrogd import SDROGDClassifier
from onlinekern.second_order import AROWClassifier, AROWRegressor, CWClassifier, SCWClassifier
from onlinekern.sketch import FrequentDirections
from onlinekern.spa import SPAClassifier, SPAOneClass, SPARegressor

__version__ = _version("onlinekern")

__all__ = [
    "AROWClassifier",
    "AROWRegressor",
    "BOGDClassifier",
    "BOGDRegressor",
    "BOLSSVMClassifier",
    "BPAClassifier",
    "BPARegressor",
    "BSGDClassifier",
    "BSGDRegressor",
    "CWClassifier",
    "DualSGDClassifier",
    "DualSGDRegressor",
    "FOGDClassifier",
    "FOGDRegressor",
    "ForgetronClassifier",
    "FourierFeatures",
    "FrequentDirections",
    "KernelOGDClassifier",
    "KernelOGDRegressor",
    "KernelPAClassifier",
    "KernelPARegressor",
    "KernelPegasosClassifier",
    "KernelPerceptronClassifier",
    "LOLClassifier",
    "NOGDClassifier",
    "NOGDRegressor",
    "NystroemFeatures",
    "OGDClassifier",
    "OGDRegressor",
    "OLLAClassifier",
    "OLLARegressor",
    "OSKLClassifier",
    "PAClassifier",
    "PARegressor",
    "PegasosClassifier",
    "PerceptronClassifier",
    "ProjectronClassifier",
    "RBPClassifier",
    "SCWClassifier",
    "SDROGDClassifier",
    "SPAClassifier",
    "SPAOneClass",
    "SPARegressor",
    "all_estimators",
    "get_include",
    "show_config",
]


def get_include():
    """Folder with the C headers, for compiled packages that build on this one (docs/c_api.md).

    An editable install has them elsewhere; build on an installed library.
    """
    return str(_Path(__file__).parent / "include")


def show_config(mode="stdout"):
    """Version, and the instruction set that the compiled core runs on.

    The environment variable ``ONLINEKERN_ISA``, read at import, forces one of the available sets.

    Parameters
    ----------
    mode : {'stdout', 'dicts'}, default='stdout'
        Print, or return a dictionary with 'version', 'instruction_set' and 'available' (what this
        machine could run, best first).
    """
    config = {
        "version": __version__,
        "instruction_set": _level(),
        "available": _available_levels(),
    }
    if mode == "dicts":
        return config
    if mode != "stdout":
        raise ValueError(f"mode must be 'stdout' or 'dicts', got {mode!r}")
    print(
        f"onlinekern {config['version']}, instruction set {config['instruction_set']} "
        f"(available: {', '.join(config['available'])})"
    )
    return None
