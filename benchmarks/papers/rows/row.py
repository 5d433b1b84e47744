"""A row of a paper's table: data set, learner, setting, protocol."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

SHOWN = {
    "n_components": "D={}", "budget": "B={}", "reg_per_stream": "reg*n={}", "covariance": "{}",
    "multi_class": "{}", "within_weight": "eta={}",
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One figure of a table.

    Attributes
    ----------
    data : str
        Name of a set of `datasets`.
    learner : str
    estimator : type
    protocol : callable
    parameters : dict
        Parameters of the estimator; `reg_per_stream` is divided by the number of samples.
    published, bar : float or None
        Errors in per cent: the paper's, and an independent implementation's.
    grid : dict
        Parameters that `choose.py` chose on the first rows, with the values tried.
    name : str
        The learner without its setting.
    orders, digits : int
        Random orders, and digits of the error behind the point.
    """

    data: str
    learner: str
    estimator: type
    protocol: Callable
    parameters: dict = field(default_factory=dict)
    published: float | None = None
    bar: float | None = None
    grid: dict = field(default_factory=dict)
    name: str = ""
    orders: int = 5
    digits: int = 2

    def __post_init__(self):
        """Let the learner's name be without a setting."""
        if not self.name:
            object.__setattr__(self, "name", self.learner)

    def build(self, n):
        """Make the estimator for a stream of n samples."""
        parameters = dict(self.parameters)
        if "reg_per_stream" in parameters:
            parameters["reg"] = parameters.pop("reg_per_stream") / n
        return self.estimator(**parameters)

    def with_parameters(self, changes):
        """Return the row with other values of some parameters."""
        return replace(self, parameters={**self.parameters, **changes})

    def choosing(self, grid, values):
        """Return the row with values chosen from a grid; they are added to its name."""
        setting = dict(zip(grid, values, strict=True))
        name = described(self.learner, setting)
        return replace(self.with_parameters(setting), learner=name, grid=grid)


def described(learner, setting):
    """Return the name of a learner with its setting."""
    parts = (SHOWN.get(name, f"{name}={{}}").format(value) for name, value in setting.items())
    return " ".join([learner, *parts])


def mistakes(accuracy):
    """Return the errors of an accuracy in per cent."""
    return None if accuracy is None else round(100 - accuracy, 2)
