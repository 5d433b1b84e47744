"""Test of every wheel: it imports, knows its version, and each estimator learns."""

import re
from importlib.metadata import version

import numpy as np
import pytest
from scipy import sparse

import onlinekern
from onlinekern import all_estimators


def test_version():
    assert onlinekern.__version__ == version("onlinekern")
    assert re.match(r"\d+\.\d+", onlinekern.__version__)


def test_configuration(capsys):
    config = onlinekern.show_config("dicts")
    assert config["instruction_set"] in config["available"]
    assert config["version"] == onlinekern.__version__
    assert onlinekern.show_config() is None
    assert config["instruction_set"] in capsys.readouterr().out
    with pytest.raises(ValueError, match="mode"):
        onlinekern.show_config("file")


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("name", "cls"), all_estimators())
def test_fit(name, cls, layout):
    rng = np.random.default_rng(0)
    # Regressors learn mean and scale of the targets along: 200 are few where the steps are 1 / t.
    X = rng.standard_normal((500, 3))
    hidden = X[:, 0] - X[:, 1]
    y = hidden > 0 if name.endswith("Classifier") else hidden
    width = {"gamma": 0.3} if hasattr(cls, "gamma") else {}
    model = cls(**width, random_state=0).fit(layout(X), y)
    if hasattr(model, "score"):
        assert model.score(layout(X), y) > 0.8
    else:
        share = (model.fit_predict(layout(X)) == -1).mean()
        assert share == pytest.approx(model.contamination)
    assert model.n_seen_ == 500 * getattr(model, "n_iter_", 1)
