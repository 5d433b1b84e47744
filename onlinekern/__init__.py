"""Online and budgeted kernel learning on streams, at C speed, under the scikit-learn contract.

Notes
-----
Any number of threads may use one estimator. One learns at a time (`fit`, `partial_fit`,
`learn_one`, `set_params`), the others wait for their turn. Any number read at once (`predict`,
`score_one`, attributes, pickling, `save`). They wait while samples are being learnt, and each
answer is of one state. The counters `n_seen_`, `n_mistakes_` and `cumulative_loss_` do not wait:
they show how far a call has come. While `fit` learns a new model, the old one answers. A signal
handler that uses the estimator whose call it interrupted gets a RuntimeError. In a forked child, a
model that another thread was teaching raises RuntimeError; all others work.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from pathlib import Path as _Path
from typing import TYPE_CHECKING
from typing import Any as _Any

from onlinekern._registry import PUBLIC_CLASSES as _PUBLIC_CLASSES
from onlinekern._registry import all_estimators as all_estimators
from onlinekern._saving import load as load

# A class is imported when it is first needed. Type checkers read the names here.
if TYPE_CHECKING:
    from onlinekern._saving.foreign import register as register
    from onlinekern.adaptive_filters import KAPARegressor as KAPARegressor
    from onlinekern.adaptive_filters import KLMSRegressor as KLMSRegressor
    from onlinekern.adaptive_filters import QKLMSRegressor as QKLMSRegressor
    from onlinekern.bogd import BOGDClassifier as BOGDClassifier
    from onlinekern.bogd import BOGDRegressor as BOGDRegressor
    from onlinekern.bsgd import BSGDClassifier as BSGDClassifier
    from onlinekern.bsgd import BSGDRegressor as BSGDRegressor
    from onlinekern.budgeted import BPAClassifier as BPAClassifier
    from onlinekern.budgeted import BPARegressor as BPARegressor
    from onlinekern.budgeted import ForgetronClassifier as ForgetronClassifier
    from onlinekern.budgeted import RBPClassifier as RBPClassifier
    from onlinekern.dual import DualSGDClassifier as DualSGDClassifier
    from onlinekern.dual import DualSGDRegressor as DualSGDRegressor
    from onlinekern.features import FourierFeatures as FourierFeatures
    from onlinekern.features import NystroemFeatures as NystroemFeatures
    from onlinekern.kernel import KernelOGDClassifier as KernelOGDClassifier
    from onlinekern.kernel import KernelOGDRegressor as KernelOGDRegressor
    from onlinekern.kernel import KernelPegasosClassifier as KernelPegasosClassifier
    from onlinekern.kernel import KernelPerceptronClassifier as KernelPerceptronClassifier
    from onlinekern.kernel_mean import KernelMeanDetector as KernelMeanDetector
    from onlinekern.kernel_rls import KernelRLSClassifier as KernelRLSClassifier
    from onlinekern.kernel_rls import KernelRLSRegressor as KernelRLSRegressor
    from onlinekern.kernel_second_order import KernelAROWClassifier as KernelAROWClassifier
    from onlinekern.kernel_second_order import KernelSCWClassifier as KernelSCWClassifier
    from onlinekern.linear import OGDClassifier as OGDClassifier
    from onlinekern.linear import OGDRegressor as OGDRegressor
    from onlinekern.linear import PegasosClassifier as PegasosClassifier
    from onlinekern.linear import PerceptronClassifier as PerceptronClassifier
    from onlinekern.linear_pa import PAClassifier as PAClassifier
    from onlinekern.linear_pa import PARegressor as PARegressor
    from onlinekern.local import LOLClassifier as LOLClassifier
    from onlinekern.mapped import FOGDClassifier as FOGDClassifier
    from onlinekern.mapped import FOGDRegressor as FOGDRegressor
    from onlinekern.mapped import NOGDClassifier as NOGDClassifier
    from onlinekern.mapped import NOGDRegressor as NOGDRegressor
    from onlinekern.merging import merge as merge
    from onlinekern.olla import OLLAClassifier as OLLAClassifier
    from onlinekern.olla import OLLARegressor as OLLARegressor
    from onlinekern.oskl import OSKLClassifier as OSKLClassifier
    from onlinekern.passive_aggressive import KernelPAClassifier as KernelPAClassifier
    from onlinekern.passive_aggressive import KernelPARegressor as KernelPARegressor
    from onlinekern.pipeline import StreamPipeline as StreamPipeline
    from onlinekern.pipeline import make_stream_pipeline as make_stream_pipeline
    from onlinekern.projection import BOLSSVMClassifier as BOLSSVMClassifier
    from onlinekern.projection import ProjectronClassifier as ProjectronClassifier
    from onlinekern.recursive_filters import FixedBudgetKRLSRegressor as FixedBudgetKRLSRegressor
    from onlinekern.recursive_filters import KRLSRegressor as KRLSRegressor
    from onlinekern.recursive_filters import KRLSTRegressor as KRLSTRegressor
    from onlinekern.recursive_filters import (
        SlidingWindowKRLSRegressor as SlidingWindowKRLSRegressor,
    )
    from onlinekern.scaling import OnlineStandardScaler as OnlineStandardScaler
    from onlinekern.sdrogd import SDROGDClassifier as SDROGDClassifier
    from onlinekern.second_order import AROWClassifier as AROWClassifier
    from onlinekern.second_order import AROWRegressor as AROWRegressor
    from onlinekern.second_order import CWClassifier as CWClassifier
    from onlinekern.second_order import SCWClassifier as SCWClassifier
    from onlinekern.sketch import FrequentDirections as FrequentDirections
    from onlinekern.spa import SPAClassifier as SPAClassifier
    from onlinekern.spa import SPAOneClass as SPAOneClass
    from onlinekern.spa import SPARegressor as SPARegressor
    from onlinekern.stream_learners import StreamClassifier as StreamClassifier
    from onlinekern.stream_learners import StreamRegressor as StreamRegressor
    from onlinekern.tables import TableEncoder as TableEncoder

    __version__: str

_PIPELINE = ("StreamPipeline", "make_stream_pipeline")
_MODULES = {
    *_PUBLIC_CLASSES,
    "cli",
    "compat",
    "core",
    "distributed",
    "evaluate",
    "extending",
    "merging",
    "pipeline",
    "plotting",
    "streams",
}
_MODULE_OF = {name: module for module, names in _PUBLIC_CLASSES.items() for name in names}
_MODULE_OF |= dict.fromkeys(_PIPELINE, "pipeline")
_MODULE_OF |= {"merge": "merging", "register": "_saving.foreign"}

__all__ = sorted([*_MODULE_OF, "all_estimators", "get_include", "load", "show_config"])


def __getattr__(name: str) -> _Any:
    """A public class, a module or the version, when it is first needed (PEP 562)."""
    value: _Any
    if name in _MODULE_OF:
        value = getattr(_import_module(f"onlinekern.{_MODULE_OF[name]}"), name)
    elif name in _MODULES:
        return _import_module(f"onlinekern.{name}")
    elif name == "__version__":
        value = _installed_version()
    else:
        raise AttributeError(f"module 'onlinekern' has no attribute {name!r}")
    globals()[name] = value
    return value


def _installed_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("onlinekern")
    except PackageNotFoundError:
        # In the source folder, importing the core says what to do.
        _import_module("onlinekern.core")
        raise


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES, "__version__"} - {"TYPE_CHECKING"})


def get_include() -> str:
    """Folder with the C headers, for compiled packages that build on this one (docs/c_api.md).

    An editable install has them elsewhere; build on an installed library.
    """
    return str(_Path(__file__).parent / "include")


def show_config(mode: str = "stdout") -> dict[str, _Any] | None:
    """Version, and the instruction set that the compiled core runs on.

    The environment variable ``ONLINEKERN_ISA``, read at import, forces one of the available sets.

    Parameters
    ----------
    mode : {'stdout', 'dicts'}, default='stdout'
        Print, or return a dictionary with 'version', 'instruction_set' and 'available' (what this
        machine can run, best first).

    Returns
    -------
    dict or None
        None if the configuration is printed.

    Raises
    ------
    ValueError
        If `mode` is another one.
    """
    if mode not in ("stdout", "dicts"):
        raise ValueError(f"mode must be 'stdout' or 'dicts', got {mode!r}")
    from onlinekern.core.base.vector import available_levels, level

    version = __getattr__("__version__")
    config = {"version": version, "instruction_set": level(), "available": available_levels()}
    if mode == "dicts":
        return config
    available = ", ".join(config["available"])
    print(f"onlinekern {version}, instruction set {level()} (available: {available})")
    return None
