"""Pictures of what learners do on streams (needs matplotlib: ``pip install 'onlinekern[cli]'``).

Displays are used as scikit-learn's: a class method computes and draws, `plot` draws again, and what
was drawn is in the attributes ``ax_``, ``figure_``, ``line_`` and so on. The functions `plot_...`
draw comparisons and races.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from onlinekern.plotting.comparisons import FIRST_SHOWN as FIRST_SHOWN
from onlinekern.plotting.comparisons import SHORT_AXIS as SHORT_AXIS
from onlinekern.plotting.comparisons import (
    plot_comparisons,
    plot_errors,
    plot_supports,
    plot_window,
)
from onlinekern.plotting.race import RaceDisplay, plot_race
from onlinekern.plotting.style import COLOURS, LINES, SUFFIXES, check_suffix

if TYPE_CHECKING:
    from onlinekern.plotting.budget import BudgetDisplay as BudgetDisplay
    from onlinekern.plotting.calibration import (
        PrequentialCalibrationDisplay as PrequentialCalibrationDisplay,
    )
    from onlinekern.plotting.learning import PrequentialDisplay as PrequentialDisplay
    from onlinekern.plotting.regions import DecisionRegionsDisplay as DecisionRegionsDisplay
    from onlinekern.plotting.support import SupportVectorsDisplay as SupportVectorsDisplay

# Imported when first needed: the command line wants none of them.
_MODULE_OF = {
    "BudgetDisplay": "budget",
    "DecisionRegionsDisplay": "regions",
    "PrequentialCalibrationDisplay": "calibration",
    "PrequentialDisplay": "learning",
    "SupportVectorsDisplay": "support",
}

__all__ = [
    "COLOURS",
    "LINES",
    "SUFFIXES",
    "BudgetDisplay",
    "DecisionRegionsDisplay",
    "PrequentialCalibrationDisplay",
    "PrequentialDisplay",
    "RaceDisplay",
    "SupportVectorsDisplay",
    "check_suffix",
    "plot_comparisons",
    "plot_errors",
    "plot_race",
    "plot_supports",
    "plot_window",
]


def __getattr__(name: str) -> Any:
    """Import a display when it is first needed (PEP 562)."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'onlinekern.plotting' has no attribute {name!r}")
    return getattr(import_module(f"onlinekern.plotting.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__} - {"TYPE_CHECKING"})
