"""Streams that change: their rules, their drift, and river's rows where river is installed."""

import doctest
from itertools import islice

import numpy as np
import pytest
from oracles import drifting as oracle

from onlinekern.streams import (
    LED,
    SEA,
    STAGGER,
    Agrawal,
    ConceptDrift,
    DriftStream,
    Hyperplane,
    Mixed,
    RandomRBF,
    Sine,
)
from onlinekern.streams.generators import agrawal, concepts, drifting, moving


def name_of(item):
    """Return how pytest names a stream; it numbers equal names."""
    return type(item).__name__ if isinstance(item, DriftStream) else ""


TWO = [SEA(random_state=1), SEA(concept=3, random_state=2)]
# Each stream with the arguments of river's of the same name.
LIKE_RIVER = [
    (SEA(concept=2, noise=0.1, random_state=3), "SEA", (2, 0.1, 3)),
    (SEA(random_state=4), "SEA", (0, 0.0, 4)),
    *(
        (
            Sine(concept=k, balanced=balanced, irrelevant_features=more, random_state=5),
            "Sine",
            (k, 5, balanced, more),
        )
        for k in range(4)
        for balanced in (False, True)
        for more in (False, True)
    ),
    *(
        (cls(concept=k, balanced=balanced, random_state=6), cls.__name__, (k, 6, balanced))
        for cls, most in ((Mixed, 2), (STAGGER, 3))
        for k in range(most)
        for balanced in (False, True)
    ),
    *(
        (
            LED(noise=0.3, irrelevant_features=True, n_drift_features=k, random_state=7),
            "LEDDrift",
            (7, 0.3, True, k),
        )
        for k in (0, 4, 7)
    ),
    (LED(random_state=1), "LED", (1,)),
    *(
        (
            Agrawal(concept=k, perturbation=share, balanced=balanced, random_state=8),
            "Agrawal",
            (k, 8, balanced, share),
        )
        for k in range(10)
        for share in (0.0, 0.3)
        for balanced in (False, True)
    ),
    (
        Hyperplane(n_features=7, n_drift_features=3, speed=0.01, random_state=2),
        "Hyperplane",
        (2, 7, 3, 0.01),
    ),
    (RandomRBF(n_classes=4, random_state=2, model_state=3), "RandomRBF", (3, 2, 4)),
    (
        RandomRBF(n_classes=4, n_features=5, n_centroids=20, speed=0.03, n_drift_centroids=11,
                  random_state=2, model_state=3),
        "RandomRBFDrift", (3, 2, 4, 5, 20, 0.03, 11),
    ),
]  # fmt: skip
# river's own examples: the first rows of its documentation.
PUBLISHED = [
    (SEA(random_state=42), [[6.39426, 0.25010, 2.75029], [2.23210, 7.36471, 6.76699]], [0, 1]),
    (
        Sine(concept=2, irrelevant_features=True, random_state=112),
        [[0.4812, 0.6660, 0.6198, 0.6994], [0.9022, 0.7518, 0.1625, 0.2209]],
        [1, 0],
    ),
    (
        Mixed(concept=1, balanced=True, random_state=42),
        [[1, 0, 0.2750, 0.2232], [0, 0, 0.2186, 0.5053]],
        [1, 0],
    ),
    (STAGGER(concept=2, random_state=112), [[1, 2, 2], [2, 1, 2], [1, 1, 2], [0, 1, 0]],
     [1, 1, 1, 0]),
    (
        Agrawal(random_state=42),
        [[103125.4837, 0, 21, 2, 8, 3, 319768.9642, 4, 338349.7437]],
        [1],
    ),
    (
        LED(noise=0.28, irrelevant_features=True, n_drift_features=4, random_state=112),
        [[1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1]],
        [7],
    ),
    (
        RandomRBF(n_classes=4, n_features=4, n_centroids=20, speed=0.87, n_drift_centroids=10,
                  random_state=42, model_state=42),
        [[1.0989, 0.3840, 0.7759, 0.6592], [1.1496, 1.9014, 1.5393, 0.3210]],
        [2, 0],
    ),
    (
        ConceptDrift([SEA(random_state=42), SEA(concept=1, random_state=42)], 5, 2, random_state=1),
        [[6.3942, 0.2501, 2.7502], [2.2321, 7.3647, 6.7669], [8.9217, 0.8693, 4.2192],
         [0.2979, 2.1863, 5.0535], [6.3942, 0.2501, 2.7502]],
        [0, 1, 1, 0, 0],
    ),
]  # fmt: skip


@pytest.mark.parametrize("module", [agrawal, concepts, drifting, moving])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(("stream", "name", "arguments"), LIKE_RIVER, ids=name_of)
def test_rows_are_rivers(stream, name, arguments):
    synth = pytest.importorskip("river.datasets.synth", reason="river is not installed")
    check_rows(stream, getattr(synth, name)(*arguments))


def test_joined_rows_are_rivers():
    synth = pytest.importorskip("river.datasets.synth", reason="river is not installed")
    theirs = synth.SEA(seed=1), synth.SEA(3, seed=2)
    for position, width in ((300, 200), (100, 1)):
        ours = ConceptDrift(TWO, position, width, random_state=6)
        check_rows(ours, synth.ConceptDriftStream(*theirs, position, width, 6))


def check_rows(ours, theirs, n=600):
    X, y = ours.take(n)
    pairs = list(islice(theirs, n))
    rows = np.array([list(x.values()) for x, _ in pairs], dtype=float)
    # NumPy's logarithm and cosine and those of the C library differ in the last bits.
    np.testing.assert_allclose(X, rows, rtol=1e-12, atol=1e-14)
    assert y.tolist() == [int(label) for _, label in pairs]


@pytest.mark.parametrize(("stream", "rows", "labels"), PUBLISHED, ids=name_of)
def test_rows_are_the_published_ones(stream, rows, labels):
    X, y = stream.take(len(labels))
    np.testing.assert_allclose(X[: len(rows)], rows, atol=1e-4)
    assert y.tolist() == labels


@pytest.mark.parametrize(
    "stream",
    [*(stream for stream, *_ in LIKE_RIVER[::4]), ConceptDrift(TWO, 30, 20, random_state=9)],
    ids=name_of,
)
def test_blocks_are_the_stream(stream):
    X, y = stream.take(90)
    assert X.shape == (90, stream.n_features)
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    assert set(y.tolist()) <= set(stream.classes.tolist())
    for size in (1, 7, 64):
        blocks = list(islice(stream.blocks(size), 90 // size))
        n = 90 // size * size
        np.testing.assert_array_equal(np.concatenate([rows for rows, _ in blocks]), X[:n])
        np.testing.assert_array_equal(np.concatenate([labels for _, labels in blocks]), y[:n])


@pytest.mark.parametrize(
    ("cls", "rule", "most"),
    [
        (SEA, oracle.sea, 4),
        (Sine, oracle.sine, 4),
        (Mixed, oracle.mixed, 2),
        (STAGGER, oracle.stagger, 3),
        (Agrawal, oracle.agrawal, 10),
    ],
)
def test_labels_follow_the_rule(cls, rule, most):
    labels = []
    for concept in range(most):
        X, y = cls(concept=concept, random_state=concept).take(2000)
        np.testing.assert_array_equal(y, rule(X, concept))
        labels.append(rule(X, 0))
        assert concept == 0 or (labels[-1] != y).any(), "a concept is another one"


@pytest.mark.parametrize("cls", [Sine, Mixed, STAGGER, Agrawal])
def test_balanced_labels_alternate(cls):
    stream = cls(balanced=True, random_state=0)
    X, y = stream.take(101)
    assert y.tolist() == [1, 0] * 50 + [1]
    all_rows = {tuple(row) for row in cls(random_state=0).take(3000)[0]}
    assert {tuple(row) for row in X} <= all_rows


@pytest.mark.parametrize(("noise", "share"), [(0.1, 0.1), (0.0, 0.0), (1.0, 1.0)])
def test_noise_flips_its_share(noise, share):
    X, y = SEA(noise=noise, random_state=0).take(20_000)
    assert np.mean(y != oracle.sea(X, 0)) == pytest.approx(share, abs=0.01)


def test_led_shows_digits():
    X, y = LED(random_state=0).take(5000)
    assert np.unique(np.column_stack([X, y]), axis=0).shape == (10, 8)
    assert np.bincount(y).min() > 400
    noisy, digits = LED(noise=0.2, irrelevant_features=True, random_state=0).take(5000)
    shown = np.array(concepts.SEGMENTS)[digits]
    assert np.mean(noisy[:, :7] != shown) == pytest.approx(0.19, abs=0.01)
    assert np.allclose(noisy[:, 7:].mean(axis=0), 0.5, atol=0.03)
    moved, digits = LED(irrelevant_features=True, n_drift_features=3, random_state=0).take(5000)
    wrong = np.mean(moved[:, :7] != np.array(concepts.SEGMENTS)[digits], axis=0)
    assert np.count_nonzero(wrong) == 3


def test_hyperplane_is_its_definition():
    X, y = Hyperplane(n_features=4, n_drift_features=3, speed=0.01, turn=0.3, noise=0.1,
                      random_state=1).take(500)  # fmt: skip
    rows, labels = oracle.hyperplane(500, 4, 3, 0.01, 0.1, 0.3, 1)
    np.testing.assert_array_equal(X, rows)
    np.testing.assert_array_equal(y, labels)


@pytest.mark.parametrize(("speed", "n_drift"), [(0.0, 8), (0.05, 5), (0.3, 8)])
def test_random_rbf_is_its_definition(speed, n_drift):
    stream = RandomRBF(n_classes=3, n_features=4, n_centroids=8, speed=speed,
                       n_drift_centroids=n_drift, random_state=1, model_state=2)  # fmt: skip
    X, y = stream.take(301)
    rows, labels = oracle.random_rbf(301, 3, 4, 8, speed, n_drift, 1, 2)
    np.testing.assert_allclose(X, rows, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(y, labels)


def nearest_of_the_past(X, y, rows):
    """Return the share of the last 1,000 samples that the nearest of some others labels rightly."""
    distances = ((X[-1000:, None] - X[rows]) ** 2).sum(-1)
    return np.mean(y[rows][distances.argmin(axis=1)] == y[-1000:])


def test_clusters_wander():
    still, moved = (
        RandomRBF(n_centroids=20, speed=speed, random_state=0, model_state=0).take(9000)
        for speed in (0.0, 0.001)
    )
    recent, old = slice(7000, 8000), slice(0, 1000)
    assert nearest_of_the_past(*moved, recent) > nearest_of_the_past(*moved, old) + 0.1
    assert abs(nearest_of_the_past(*still, recent) - nearest_of_the_past(*still, old)) < 0.05


def test_concepts_are_joined_by_the_sigmoid():
    X, y = ConceptDrift(TWO, 150, 80, random_state=9).take(400)
    rows = [np.column_stack(stream.take(400)) for stream in TWO]
    expected = oracle.joined(*rows, 400, 150, 80, 9)
    np.testing.assert_array_equal(np.column_stack([X, y]), expected)


def numbered(n_concepts, **arguments):
    """Return which of several concepts each of 1,000 samples comes from."""
    one = [Hyperplane(n_features=1, n_drift_features=0, random_state=k) for k in range(n_concepts)]
    own = [set(stream.take(1000)[0].ravel().tolist()) for stream in one]
    X, _ = ConceptDrift(one, random_state=0, **arguments).take(1000)
    return np.array([next(k for k in range(n_concepts) if x in own[k]) for x in X.ravel().tolist()])


def test_abrupt_changes_are_where_they_were_asked_for():
    found = numbered(3, position=[200, 500], width=0)
    assert found.tolist() == [0] * 200 + [1] * 300 + [2] * 500


def test_recurring_concepts_come_again():
    found = numbered(2, position=100, width=0, period=300)
    assert found.tolist() == [0] * 100 + [1] * 300 + [0] * 300 + [1] * 300
    gradual = numbered(3, position=250, width=40, period=250)
    times = np.arange(1, 1001)
    far = np.abs((times - 125) % 250 - 125) > 90
    expected = (times - 1) // 250 % 3
    assert (gradual[far] == expected[far]).all()
    assert 20 < np.count_nonzero(gradual != expected) < 90


def test_a_gradual_change_is_a_sigmoid():
    one = [Hyperplane(n_features=1, n_drift_features=0, random_state=k) for k in (0, 1)]
    late = np.zeros(400)
    for seed in range(50):
        X, _ = ConceptDrift(one, 200, 100, random_state=seed).take(400)
        first = set(one[0].take(400)[0].ravel().tolist())
        late += [x not in first for x in X.ravel().tolist()]
    expected = 1 / (1 + np.exp(-4 * (np.arange(1, 401) - 200) / 100))
    assert np.abs(late / 50 - expected).reshape(20, 20).mean(axis=1).max() < 0.12
    assert abs((late / 50 - expected).sum()) < 8


def test_concepts_may_be_joined_streams():
    inner = ConceptDrift(TWO, 50, 0, random_state=0)
    X, _ = ConceptDrift([inner, SEA(concept=1, random_state=3)], 120, 0, random_state=0).take(200)
    expected = np.vstack(
        [TWO[0].take(50)[0], TWO[1].take(70)[0], SEA(concept=1, random_state=3).take(80)[0]]
    )
    np.testing.assert_array_equal(X, expected)


def test_readings_are_alike_with_a_seed_and_not_without():
    assert (SEA(random_state=0).take(5)[0] == SEA(random_state=0).take(5)[0]).all()
    unseeded = RandomRBF()
    assert (unseeded.take(5)[0] != unseeded.take(5)[0]).all()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SEA(concept=4), "concept must be an integer from 0 to 3, got 4"),
        (lambda: SEA(concept=True), "concept must be an integer from 0 to 3, got True"),
        (lambda: SEA(noise=1.5), "noise must be a number from 0 to 1, got 1.5"),
        (lambda: SEA(random_state=-1), "random_state must be None or an integer of at least 0"),
        (lambda: SEA(random_state=0.5), "random_state must be None or an integer of at least 0"),
        (lambda: Sine(concept=4), "concept must be"),
        (lambda: Mixed(concept=2), "concept must be"),
        (lambda: STAGGER(concept=3), "concept must be"),
        (lambda: Agrawal(concept=10), "concept must be"),
        (lambda: Agrawal(perturbation=-0.1), "perturbation must be a finite number of at least 0"),
        (lambda: LED(n_drift_features=1), "n_drift_features must be an integer from 0 to 0"),
        (lambda: LED(irrelevant_features=True, n_drift_features=8), "from 0 to 7"),
        (lambda: Hyperplane(n_drift_features=11), "n_drift_features must be"),
        (lambda: Hyperplane(n_features=0), "n_features must be"),
        (lambda: Hyperplane(speed=np.nan), "speed must be a finite number"),
        (lambda: RandomRBF(model_state="a"), "model_state must be"),
        (lambda: RandomRBF(n_drift_centroids=51), "n_drift_centroids must be"),
        (lambda: RandomRBF(n_classes=0), "n_classes must be"),
        (lambda: ConceptDrift([SEA()]), "concepts must be two or more drift streams"),
        (lambda: ConceptDrift([SEA(), "b"]), "concepts must be two or more drift streams"),
        (lambda: ConceptDrift([SEA(), Mixed()]), r"same number of features, got \[3, 4\]"),
        (lambda: ConceptDrift(TWO, width=-1), "width must be a finite number of at least 0"),
        (lambda: ConceptDrift(TWO, position=0), "position must be"),
        (lambda: ConceptDrift(TWO, [1, 2]), "position must be 1 ascending numbers"),
        (lambda: ConceptDrift([*TWO, SEA()], [20, 10]), "position must be 2 ascending numbers"),
        (lambda: ConceptDrift(TWO, period=0), "period must be"),
        (lambda: SEA().take(0), "n_samples must be"),
        (lambda: SEA().blocks(0), "block_size must be"),
    ],
)
def test_bad_arguments_are_named(build, message):
    with pytest.raises(ValueError, match=message):
        build()
