"""Where the public classes are, and the list of estimators."""

from __future__ import annotations

from importlib import import_module

# Module -> its public classes. The package imports a module when one of its classes is needed.
PUBLIC_CLASSES = {
    "adaptive_filters": ("KAPARegressor", "KLMSRegressor", "QKLMSRegressor"),
    "bogd": ("BOGDClassifier", "BOGDRegressor"),
    "bsgd": ("BSGDClassifier", "BSGDRegressor"),
    "budgeted": ("BPAClassifier", "BPARegressor", "ForgetronClassifier", "RBPClassifier"),
    "dual": ("DualSGDClassifier", "DualSGDRegressor"),
    "features": ("FourierFeatures", "NystroemFeatures"),
    "kernel": (
        "KernelOGDClassifier",
        "KernelOGDRegressor",
        "KernelPegasosClassifier",
        "KernelPerceptronClassifier",
    ),
    "kernel_mean": ("KernelMeanDetector",),
    "kernel_rls": ("KernelRLSClassifier", "KernelRLSRegressor"),
    "kernel_second_order": ("KernelAROWClassifier", "KernelSCWClassifier"),
    "linear": ("OGDClassifier", "OGDRegressor", "PegasosClassifier", "PerceptronClassifier"),
    "linear_pa": ("PAClassifier", "PARegressor"),
    "local": ("LOLClassifier",),
    "mapped": ("FOGDClassifier", "FOGDRegressor", "NOGDClassifier", "NOGDRegressor"),
    "olla": ("OLLAClassifier", "OLLARegressor"),
    "oskl": ("OSKLClassifier",),
    "passive_aggressive": ("KernelPAClassifier", "KernelPARegressor"),
    "projection": ("BOLSSVMClassifier", "ProjectronClassifier"),
    "recursive_filters": (
        "FixedBudgetKRLSRegressor",
        "KRLSRegressor",
        "KRLSTRegressor",
        "SlidingWindowKRLSRegressor",
    ),
    "scaling": ("OnlineStandardScaler",),
    "sdrogd": ("SDROGDClassifier",),
    "second_order": ("AROWClassifier", "AROWRegressor", "CWClassifier", "SCWClassifier"),
    "sketch": ("FrequentDirections",),
    "stream_learners": ("StreamClassifier", "StreamRegressor"),
    "spa": ("SPAClassifier", "SPAOneClass", "SPARegressor"),
    "tables": ("TableEncoder",),
}


def all_estimators(type_filter: str | None = None) -> list[tuple[str, type]]:
    """All estimators of the library; transformers are not among them.

    Parameters
    ----------
    type_filter : {None, 'classifier', 'regressor', 'outlier_detector'}, default=None

    Returns
    -------
    list of (str, type)
        Names and classes, sorted by name.

    Raises
    ------
    ValueError
        If there is no such type.

    Examples
    --------
    >>> from onlinekern import all_estimators
    >>> "SPAClassifier" in dict(all_estimators("classifier"))
    True
    """
    from onlinekern._base import Learner
    from onlinekern._outliers import OnlineOutlierDetector
    from onlinekern._tasks import Classifier, Regressor

    kinds = {
        None: Learner,
        "classifier": Classifier,
        "regressor": Regressor,
        "outlier_detector": OnlineOutlierDetector,
    }
    if type_filter not in kinds:
        raise ValueError(f"type_filter must be one of {list(kinds)}, got {type_filter!r}")
    classes = (
        (name, getattr(import_module(f"onlinekern.{module}"), name))
        for module, names in PUBLIC_CLASSES.items()
        for name in names
    )
    return sorted(item for item in classes if issubclass(item[1], kinds[type_filter]))
