"""The methods that can be compared by name: a new algorithm is one line of the table below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from onlinekern._registry import is_public, public

POWERS_OF_TEN = (1.0, 0.1, 10.0, 0.01, 100.0, 0.001, 1000.0)
AGGRESSIVENESS = (1.0, 0.5, 2.0, 0.25)
RIDGES = (0.01, 0.1, 1.0)
STEPS = (0.5, 0.2, 0.1, 1.0)
# Few features stand for a narrow kernel badly: their learners often want a wider one than those of
# support vectors, for which the common width is chosen (docs/defaults.md).
WIDER = (1.0, 1 / 4, 1 / 16)
RIDGES_OF_FEATURES = {"gamma": WIDER, "reg": (0.1, 0.01, 1.0)}
CONFIDENCES_OF_FEATURES = {"gamma": WIDER, "r": (0.1, 0.03, 1.0)}
# The paper's settings, which are not those of the library.
PAPERS_LOL = {
    "n_prototypes": 60, "n_assign": 1, "step": "pa", "center": False, "fit_intercept": False,
    "average": False,
}  # fmt: skip
SOFT_CONFIDENCE = {"C": (1.0, 0.1), "confidence": (0.75, 0.6, 0.9)}
KERNELS = (
    "gaussian", "rbf", "exponential", "laplacian", "polynomial", "poly", "linear", "sigmoid",
    "cosine",
)  # fmt: skip
KERNELS_OF_THE_DISTANCE = ("gaussian", "rbf", "laplacian")
CONFORMAL = {"classification": "ConformalClassifier", "regression": "ConformalRegressor"}


@dataclass(frozen=True)
class Method:
    """A named way to build estimators.

    Attributes
    ----------
    name, label : str
        The name on the command line, and in tables.
    family : str
        What the names of its estimator classes in ``onlinekern`` begin with, before 'Classifier'
        and 'Regressor'. It does those tasks for which there is one.
    task : str or None
        The only task that it does, though there are classes for both.
    fixed : mapping
        Parameters that the method fixes.
    defaults : mapping
        Defaults of the method that differ from those of the estimator: its paper's, for example.
    grid : mapping
        Parameter -> values to try when none is given, the most usual first (it wins ties). Those of
        gamma are multiples of the width that is chosen for all methods, and tried only then.
    per_sample : tuple of str
        Parameters whose values in ``grid`` are divided by the length of the stream.
    kernels : tuple of str
        The kernels that it knows.
    batch : bool
        Whether it learns no streams: it keeps all samples and is refitted from time to time. Such a
        method runs only if it is named; "all" leaves it out.
    scales : bool
        Whether it scales features by itself.
    """

    name: str
    label: str
    family: str
    task: str | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    per_sample: tuple[str, ...] = ()
    kernels: tuple[str, ...] = KERNELS
    batch: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)
    scales: bool = False

    def estimator_name(self, task: str) -> str | None:
        """Return the name of the estimator class for a task, None if there is none."""
        name = self.family + ("Classifier" if task == "classification" else "Regressor")
        return name if self.task in (None, task) and is_public(name) else None

    @property
    def classifier(self) -> str | None:
        """Name of the class of classifiers."""
        return self.estimator_name("classification")

    @property
    def regressor(self) -> str | None:
        """Name of the class of regressors."""
        return self.estimator_name("regression")

    def build(self, task: str, parameters: Any) -> Any:
        """Return an estimator; ``parameters`` may not contradict ``fixed``.

        A ``kernel`` is dropped if the estimator has no such parameter.
        """
        name = self.estimator_name(task)
        if name is None:
            check_task(self.name, task)
        estimator = public(str(name))
        values = {**self.defaults, **self.fixed, **parameters}
        if "kernel" not in estimator._get_param_names():
            values.pop("kernel", None)
        if task == "regression" and "standardize_target" in estimator._get_param_names():
            # The targets are standardised as a whole.
            values.setdefault("standardize_target", False)
        return estimator(**values)

    def recipe(
        self,
        task: str,
        parameters: Any,
        scale: str,
        *steps: Any,
        coverage: float | None = None,
        by_class: bool = False,
    ) -> Any:
        """Return what learns rows as they come: steps, a running scaler if `scale` is "running" and
        the method does not scale by itself, and the estimator, in a conformal one of a coverage,
        perhaps `by_class`."""
        from onlinekern.preprocessing.pipeline import make_stream_pipeline
        from onlinekern.preprocessing.scaler import OnlineStandardScaler

        scalers = [OnlineStandardScaler()] if scale == "running" and not self.scales else []
        learner = self.build(task, parameters)
        if coverage is not None:
            learner = public(CONFORMAL[task])(learner, coverage)
            if by_class:
                learner.set_params(by_class=True)
        before = [*steps, *scalers]
        return make_stream_pipeline(*before, learner) if before else learner

    def parameter_names(self, task: str) -> list[str]:
        """Return the parameters that may be set: all but those that the method fixes."""
        known = self.build(task, {}).get_params(deep=False)
        return sorted(set(known) - set(self.fixed) - {"kernel", "random_state"})


METHODS = {
    method.name: method
    for method in (
        Method("stream", "Stream", "Stream", scales=True),
        Method("kernel-forest", "Kernel forest", "KernelForest", scales=True),
        Method("perceptron", "Perceptron", "KernelPerceptron"),
        Method("ogd", "OGD", "KernelOGD", grid={"eta": POWERS_OF_TEN}),
        Method("pegasos", "Pegasos", "KernelPegasos", grid={"reg": POWERS_OF_TEN},
               per_sample=("reg",)),
        Method("pa", "PA", "KernelPA", fixed={"variant": "pa"}),
        Method("pa1", "PA-I", "KernelPA", fixed={"variant": "pa1"}, grid={"C": AGGRESSIVENESS}),
        Method("pa2", "PA-II", "KernelPA", fixed={"variant": "pa2"}, grid={"C": AGGRESSIVENESS}),
        Method("rbp", "RBP", "RBP"),
        Method("forgetron", "Forgetron", "Forgetron"),
        Method("ahpatron", "Ahpatron", "Ahpatron", grid={"eta": POWERS_OF_TEN}),
        Method("bpa", "BPA-S", "BPA", grid={"C": AGGRESSIVENESS}),
        Method("bogd", "BOGD", "BOGD", fixed={"removal": "uniform"}, grid={"eta": POWERS_OF_TEN}),
        Method("bogd++", "BOGD++", "BOGD", fixed={"removal": "nonuniform"},
               grid={"eta": POWERS_OF_TEN}),
        Method("oskl", "OSKL", "OSKL", grid={"eta": POWERS_OF_TEN}),
        Method("projectron", "Projectron", "Projectron", fixed={"plus_plus": False}),
        Method("projectron++", "Projectron++", "Projectron", fixed={"plus_plus": True}),
        Method("bolssvm", "BOLSSVM", "BOLSSVM", grid={"C": (1.0, 10.0, 0.1)}),
        Method("bsgd-remove", "BSGD-remove", "BSGD", fixed={"maintenance": "remove"},
               grid={"reg": (2.0, 16.0, 64.0)}, per_sample=("reg",)),
        Method("bsgd-project", "BSGD-project", "BSGD", fixed={"maintenance": "project"},
               grid={"reg": (2.0, 16.0, 64.0)}, per_sample=("reg",)),
        Method("bsgd-merge", "BSGD-merge", "BSGD", fixed={"maintenance": "merge"},
               grid={"reg": (2.0, 16.0, 64.0)}, per_sample=("reg",), kernels=("gaussian", "rbf")),
        Method("sdrogd", "SDROGD", "SDROGD",
               grid={"discriminative": (0.2, 0.0, 1.0), "within_weight": (0.5, 0.9)}),
        Method("spa", "SPA", "SPA", grid={"eta": POWERS_OF_TEN}),
        Method("spa-last", "SPA-last", "SPA", fixed={"average": False},
               grid={"eta": POWERS_OF_TEN}),
        Method("spa-paper", "SPA, paper", "SPA", fixed={"average": True},
               grid={"eta": POWERS_OF_TEN}, defaults={"beta": 5.0, "max_support": None}),
        Method("dualsgd", "DualSGD", "DualSGD",
               grid={"gamma": WIDER, "reg": (2.0, 16.0, 64.0, 256.0, 1024.0)},
               per_sample=("reg",), kernels=KERNELS_OF_THE_DISTANCE),
        Method("dualsgd-logistic", "DualSGD-logistic", "DualSGD", task="classification",
               fixed={"loss": "logistic"}, grid={"gamma": WIDER, "reg": (2.0, 16.0)},
               per_sample=("reg",), kernels=KERNELS_OF_THE_DISTANCE),
        Method("fogd", "FOGD", "FOGD", grid={"gamma": WIDER, "eta": POWERS_OF_TEN},
               kernels=KERNELS_OF_THE_DISTANCE),
        Method("fogd-paper", "FOGD, paper", "FOGD", task="classification",
               fixed={"loss": "hinge", "schedule": "constant", "average": False},
               grid={"eta": POWERS_OF_TEN}, kernels=KERNELS_OF_THE_DISTANCE),
        Method("nogd", "NOGD", "NOGD", grid={"gamma": WIDER, "eta": POWERS_OF_TEN}),
        Method("kernel-rls", "Kernel RLS", "KernelRLS", grid=RIDGES_OF_FEATURES),
        Method("kernel-rls-lot", "Kernel RLS-lot", "KernelRLS", task="classification",
               fixed={"gate": "loss_proportional"}, grid=RIDGES_OF_FEATURES),
        Method("kernel-arow", "Kernel AROW", "KernelAROW", grid=CONFIDENCES_OF_FEATURES),
        Method("kernel-arow-diagonal", "Kernel AROW-diag", "KernelAROW",
               fixed={"covariance": "diagonal"}, grid=CONFIDENCES_OF_FEATURES),
        Method("kernel-scw1", "Kernel SCW-I", "KernelSCW", fixed={"variant": "scw1"},
               grid={"gamma": WIDER, **SOFT_CONFIDENCE}),
        Method("kernel-logistic", "Kernel logistic", "KernelLogistic",
               grid={"gamma": WIDER, "r": (0.03, 0.1, 0.3)}),
        Method("klms", "KLMS", "KLMS", grid={"eta": STEPS}),
        Method("qklms", "QKLMS", "QKLMS", grid={"eta": STEPS}, kernels=KERNELS_OF_THE_DISTANCE),
        Method("kapa", "KAPA-2", "KAPA", fixed={"variant": "kapa2"}, grid={"eta": STEPS}),
        Method("krls", "KRLS-ALD", "KRLS", grid={"nu": (0.01, 0.1, 0.3)}),
        Method("sw-krls", "SW-KRLS", "SlidingWindowKRLS", grid={"reg": RIDGES}),
        Method("fb-krls", "FB-KRLS", "FixedBudgetKRLS", grid={"reg": RIDGES}),
        Method("krls-t", "KRLS-T", "KRLST", grid={"noise": RIDGES}),
        Method("linear-perceptron", "Lin. Perceptron", "Perceptron"),
        Method("linear-ogd", "Lin. OGD", "OGD", grid={"eta": POWERS_OF_TEN}),
        Method("linear-pegasos", "Lin. Pegasos", "Pegasos", grid={"reg": POWERS_OF_TEN},
               per_sample=("reg",)),
        Method("linear-pa", "Lin. PA", "PA", fixed={"variant": "pa"}),
        Method("linear-pa1", "Lin. PA-I", "PA", fixed={"variant": "pa1"},
               grid={"C": POWERS_OF_TEN}),
        Method("linear-pa2", "Lin. PA-II", "PA", fixed={"variant": "pa2"},
               grid={"C": POWERS_OF_TEN}),
        Method("cw", "CW", "CW", grid={"confidence": (0.75, 0.6, 0.9)}),
        Method("scw1", "SCW-I", "SCW", fixed={"variant": "scw1"}, grid=SOFT_CONFIDENCE),
        Method("scw2", "SCW-II", "SCW", fixed={"variant": "scw2"}, grid=SOFT_CONFIDENCE),
        Method("arow", "AROW", "AROW", grid={"r": (1.0, 0.1, 10.0)}),
        Method("lol", "LOL", "LOL"),
        Method("lol-paper", "LOL, paper", "LOL", fixed={"joint": True, **PAPERS_LOL},
               grid={"C": AGGRESSIVENESS}),
        Method("i-lol-paper", "I-LOL, paper", "LOL", fixed={"joint": False, **PAPERS_LOL},
               grid={"C": AGGRESSIVENESS}),
        Method("olla", "OLLA", "OLLA", grid={"C": (1.0, 10.0, 100.0)}, batch=True),
        Method("olla-logistic", "OLLA-logistic", "OLLA", task="classification",
               fixed={"loss": "logistic"}, grid={"C": (1.0, 10.0, 100.0)}, batch=True),
    )
}  # fmt: skip


# One or two of each family: what runs when no methods are named.
USUAL = (
    "stream", "perceptron", "ogd", "pa1", "bpa", "bogd", "bsgd-merge", "spa", "dualsgd", "fogd",
    "kernel-rls", "lol", "linear-pa1", "arow",
)  # fmt: skip


def check_task(name: str, task: str, option: str = "method") -> None:
    """Raise ValueError, which names those that do, unless a method does a task."""
    able = [one for one, method in METHODS.items() if method.estimator_name(task)]
    if name not in able:
        raise ValueError(
            f"{option} {name!r} does no {task}{perhaps(name, able)}; these do: {', '.join(able)}"
        )


def perhaps(name: str, known: Iterable[str]) -> str:
    """Return in brackets the known names that are like one."""
    # Not above: the help of commands imports this module, and no scikit-learn.
    from onlinekern.estimators.validation import near_names

    return near_names(name, known)


def select_methods(names: Any, task: str, kernel: Any = "gaussian") -> list[Method]:
    """Return the methods of these names that do a task with a kernel.

    Parameters
    ----------
    names : str or iterable of str
        Names, or one string with commas between them; "all" for all that learn streams and do the
        task, "usual" for a few of them.
    task : {"classification", "regression"}
    kernel : str

    Returns
    -------
    list of Method

    Raises
    ------
    ValueError
        If a name is unknown, is given twice, or cannot do the task.
    """
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    able = [name for name, method in METHODS.items() if method.estimator_name(task)]
    groups = {"all": [name for name in able if not METHODS[name].batch], "usual": USUAL}
    if len(names) == 1 and names[0] in groups:
        group = [name for name in groups[names[0]] if name in able]
        names = [name for name in group if kernel in METHODS[name].kernels]
    for name in names:
        if name not in METHODS:
            known = ", ".join(METHODS)
            raise ValueError(
                f"unknown method {name!r}{perhaps(name, METHODS)}; known are {known}, all, usual"
            )
        check_task(name, task)
        if kernel not in METHODS[name].kernels:
            kernels = ", ".join(METHODS[name].kernels)
            raise ValueError(f"method {name!r} has no {kernel} kernel, but {kernels}")
    if len(set(names)) < len(names):
        raise ValueError(f"a method is named twice in {','.join(names)!r}")
    return [METHODS[name] for name in names]


def given_parameters(
    methods: Any, task: str, settings: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Distribute settings over methods.

    Parameters
    ----------
    methods : list of Method
    task : {"classification", "regression"}
    settings : mapping
        ``"method.parameter"`` -> value, or ``"parameter"`` -> value for all methods that have it.

    Returns
    -------
    dict
        Method name -> its parameters.

    Raises
    ------
    ValueError
        If a method does not run, or has no such parameter.
    """
    known = {method.name: method.parameter_names(task) for method in methods}
    given: dict[str, dict[str, Any]] = {name: {} for name in known}
    # Settings for one method win over settings for all.
    for key in sorted(settings, key=lambda key: "." in key):
        name, dot, parameter = key.rpartition(".")
        if dot and name not in known:
            raise ValueError(f"cannot set {key!r}: no method {name!r} among {', '.join(known)}")
        takers = [name] if dot else [name for name in known if parameter in known[name]]
        if not takers or parameter not in known[takers[0]]:
            whose = known[name] if dot else sorted(set().union(*known.values()))
            raise ValueError(
                f"cannot set {key!r}: no parameter {parameter!r} among {', '.join(whose)}"
            )
        for taker in takers:
            given[taker][parameter] = settings[key]
    return given
