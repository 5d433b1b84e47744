"""The public names of `onlinekern.plotting`."""

from .budget import BudgetDisplay as BudgetDisplay
from .calibration import PrequentialCalibrationDisplay as PrequentialCalibrationDisplay
from .comparisons import plot_comparisons as plot_comparisons
from .comparisons import plot_errors as plot_errors
from .comparisons import plot_supports as plot_supports
from .comparisons import plot_window as plot_window
from .importances import ImportanceDisplay as ImportanceDisplay
from .learning import PrequentialDisplay as PrequentialDisplay
from .metric import MetricDisplay as MetricDisplay
from .race import RaceDisplay as RaceDisplay
from .race import plot_race as plot_race
from .regions import DecisionRegionsDisplay as DecisionRegionsDisplay
from .style import COLOURS as COLOURS
from .style import LINES as LINES
from .style import SUFFIXES as SUFFIXES
from .style import check_suffix as check_suffix
from .support import SupportVectorsDisplay as SupportVectorsDisplay
