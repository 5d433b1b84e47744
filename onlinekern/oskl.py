"""OSKL: online sparse kernel learning, whose support vectors are sampled by the loss's slope."""

from dataclasses import dataclass
from typing import Any

from onlinekern._constraints import POSITIVE
from onlinekern._gradient import GradientStep
from onlinekern._kernel import GrowingEstimator
from onlinekern._scikit_learn import StrOptions
from onlinekern._tasks import OnlineClassifier
from onlinekern.core import GATES


@dataclass(kw_only=True, eq=False, repr=False)
class OSKLClassifier(OnlineClassifier, GradientStep, GrowingEstimator):
    """Online sparse kernel learning (OSKL): gradient steps of equal length, taken by chance.

    A sample is drawn with probability ``|l'(f(x_t), y_t)| / G``; if drawn, it enters with
    coefficient ``-eta_t G sign(l')``, which is the gradient step on the mean [1]_. The model that
    predicts is the average of all models so far; losses and steps use the last one.

    Parameters
    ----------
    loss : {'logistic', 'smooth_hinge', 'squared_hinge', 'exponential'}, default='logistic'
        The losses are smooth: the smaller the slope, the fewer samples are kept.
    G : float > 0, default=5.0
        Sparsity: the larger G, the fewer samples are kept, and the longer the steps are. G should
        be at least the largest slope, which is 1 for 'logistic' and 'smooth_hinge'; samples of a
        larger slope are always kept, with a gradient step.
    {averaged}
    {gradient_parameters}
    {kernel_parameters}
    {max_support}
    {when_full}
    {class_weight}
    {multi_class}
    {stream_parameters}

    Attributes
    ----------
    {classifier_attributes}
    {attributes}

    Notes
    -----
    A `sample_weight` multiplies the loss of its sample, in the probability and in the step. All
    classes of a one-vs-rest problem use the same random number per sample, so that they share
    support vectors as far as possible. The paper has a constant step without regularisation,
    which is the default here too.

    References
    ----------
    .. [1] L. Zhang, J. Yi, R. Jin, M. Lin, X. He (2013). Online kernel learning with a near optimal
       sparsity bound. ICML.

    Examples
    --------
    >>> from onlinekern import OSKLClassifier
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(2000, random_state=0)
    >>> model = OSKLClassifier(gamma=0.4, eta=0.1, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.75), model.n_support_ < 300
    (True, True)
    """

    loss: str = "logistic"
    G: float = 5.0
    average: bool | str | float = True

    _constraints = {
        "loss": [StrOptions({"logistic", "smooth_hinge", "squared_hinge", "exponential"})],
        "G": POSITIVE,
    }

    def _gate(self) -> Any:
        return GATES["slope_proportional"](self.G)
