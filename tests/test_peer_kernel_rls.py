"""The block NumPy peer of the benchmarks takes the decisions of the twin, one sample at a time."""

import numpy as np
import pytest
from oracles.kernel_rls import kernel_rls
from scripts import scripts

with scripts():
    from peer_kernel_rls import BlockRLS

RNG = np.random.default_rng(0)
X, Z = RNG.standard_normal((180, 3)), RNG.standard_normal((20, 3))
T = np.sin(2 * X).sum(axis=1)
TARGETS = {"numbers": T, "two": np.where(T > 0, 5, 2), "three": np.digitize(T, [-0.7, 0.7])}
MAPS = {
    "fourier": {"features": "fourier", "frequencies": RNG.standard_normal((10, 3))},
    "first": {"n_components": 30},
    "ald": {"n_components": 45, "selection": "ald"},
    "margin": {"n_components": 45, "selection": "margin"},
}
GATES = {
    "always": {"gate": "always"},
    "margin": {"gate": "margin", "margin": 0.8},
    "lots": {"gate": "loss_proportional", "alpha": 0.7, "beta": 0.9},
    "weighted lots": {"gate": "loss_proportional", "weighted": True},
}
CASES = [(targets, gate) for targets in ("two", "three") for gate in GATES]


@pytest.mark.parametrize(("targets", "gate"), [("numbers", "always"), *CASES])
@pytest.mark.parametrize("features", MAPS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-4), (np.float64, 1e-11)])
def test_twin(features, targets, gate, dtype, tolerance):
    common = {"gamma": 0.5, "dtype": dtype, **MAPS[features], **GATES[gate]}
    y, regression = TARGETS[targets], targets == "numbers"
    task = "regression" if regression else "classification"
    lots = iter(np.random.default_rng(3).random(len(X)))
    twin = kernel_rls(X.astype(dtype), y, task=task, uniforms=lots, **common)
    peer = BlockRLS(regression=regression, random_state=3, **common)
    halves = [peer.partial_fit(X[half], y[half]) for half in (slice(80), slice(80, None))]
    np.testing.assert_allclose(np.concatenate(halves), twin.scores, atol=tolerance)
    np.testing.assert_allclose(peer.decision_function(Z), twin.decision_function(Z), atol=tolerance)
    assert peer.n_entered_ == len(twin.entered)
    if features != "fourier":
        np.testing.assert_array_equal(peer.rows, X[twin.map.places].astype(dtype))
    if regression:
        assert peer.cumulative_loss_ == pytest.approx(twin.cumulative_loss, rel=tolerance)
    else:
        assert peer.n_mistakes_ == twin.mistakes
        assert set(peer.predict(Z)) <= set(y)
