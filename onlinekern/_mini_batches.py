"""Learners that step once per batch of samples."""

from dataclasses import dataclass

from onlinekern._base import OnlineEstimator, all_or_nothing


@dataclass(kw_only=True, eq=False, repr=False)
class MiniBatchEstimator(OnlineEstimator):
    """Mixin, in front of the task: what is left of a batch is learnt at the end of `fit`."""

    @all_or_nothing
    def fit(self, X, y, sample_weight=None):
        """Learn from scratch, in `n_epochs` passes; the last batch may be a shorter one.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            float32 samples are kept as float32, everything else becomes float64.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0, see Notes of the class; None is 1 for every sample.

        Returns
        -------
        self : object
        """
        super().fit(X, y, sample_weight)
        self._model.space.end_batch()
        return self
