"""A warning names the line of the user's program, whichever method it comes from."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from onlinekern import KernelPAClassifier, PAClassifier

X = np.random.default_rng(0).standard_normal((60, 3))
Y = np.arange(60) % 3


def small():
    return KernelPAClassifier(max_support=3, when_full="stop")


CALLS = {
    "fit": lambda: small().fit(X, Y),
    "partial_fit": lambda: small().partial_fit(X, Y, [0, 1, 2]),
    "partial_fit_predict": lambda: small().partial_fit_predict(X, Y, [0, 1, 2]),
    "passes": lambda: PAClassifier(max_iter=1).fit(X, Y),
    "passes in threads": lambda: PAClassifier(max_iter=1, n_jobs=2).fit(X, Y),
}


@pytest.mark.parametrize("call", sorted(CALLS))
def test_warning_names_this_file(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CALLS[call]()
    found = [warning for warning in caught if issubclass(warning.category, ConvergenceWarning)]
    assert [warning.filename for warning in found] == [__file__] * len(found) != []
