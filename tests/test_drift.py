"""Detectors of change: oracles, promises, cuts of a stream, states, bad input."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from oracles import drift as oracle
from scipy import sparse
from sklearn.base import clone

from onlinekern import KernelRLSClassifier, PAClassifier, SPARegressor, load
from onlinekern.drift import ClassifierDetector, LossDetector, MMDDetector, wealth
from onlinekern.drift.queue import ROWS, RowQueue
from onlinekern.evaluate import prequential

DETECTORS = {
    "mmd": lambda **given: MMDDetector(random_state=0, **{"n_reference": 60, **given}),
    "classifier": lambda **given: ClassifierDetector(**{"n_reference": 60, **given}),
    "losses": lambda **given: LossDetector(random_state=0, **given),
    "tolerated": lambda **given: LossDetector(tolerated=0.35, bound=3.0, **given),
}
OF_ROWS = ["mmd", "classifier"]


def stream(name, n=900, change=600, seed=0):
    """Return samples for a detector whose mean changes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[change:] += 1.5
    return X if name in OF_ROWS else np.abs(X[:, 0])


def state(detector):
    """Return all that decides what a detector will do, as bytes."""
    return pickle.dumps((vars(detector), detector.statistic_))


def same(one, other):
    assert one.alarms_.tolist() == other.alarms_.tolist()
    assert (one.n_seen_, one.statistic_) == (other.n_seen_, other.statistic_)


@pytest.mark.parametrize("kinds", [1, 2])
def test_wealth_is_the_sum_over_all_players(kinds):
    payoffs = np.random.default_rng(0).uniform(-1, 1, size=(40, kinds))
    own, found = wealth.NOTHING * kinds, []
    for paid in payoffs.tolist():
        own, place = wealth.first_alarm(own, [paid], 1e300)
        assert place is None
        found.append(wealth.mean(own))
    np.testing.assert_allclose(found, oracle.wealth(payoffs), rtol=1e-12)


def test_the_alarm_comes_with_the_bet_that_reaches_the_threshold():
    payoffs = np.random.default_rng(1).uniform(-0.5, 1, size=(60, 1))
    values = oracle.wealth(payoffs)
    threshold = float(values[30])
    first = int(np.argmax(values >= threshold * (1 - 1e-12)))
    _, place = wealth.first_alarm(wealth.NOTHING, payoffs.tolist(), threshold * (1 - 1e-12))
    assert place == first
    assert wealth.first_alarm(wealth.NOTHING, payoffs[:first].tolist(), threshold)[1] is None


@pytest.mark.parametrize("n_reference", [1, 60, 150])
def test_mmd_against_the_oracle(n_reference):
    X = stream("mmd", n=700, change=500) * [1e-3, 1.0, 1e3]
    bets = oracle.pairs(X, n_reference)
    begun = MMDDetector(random_state=0, n_reference=n_reference, run_length=1e300)
    frequencies = begun.update_many(X[:100])._features.frequencies_
    values = oracle.wealth(oracle.mmd_payoffs(bets, frequencies, 0.99))
    told = dict(zip([number for number, _, _ in bets], values, strict=True))
    expected = 0.0
    for number, row in enumerate(X[100:], 101):
        expected = told.get(number, expected)
        found = begun.update(row).statistic_
        assert found == pytest.approx(expected, rel=1e-6), number
    assert begun.n_seen_ == len(X)
    # The same with a threshold: the alarm is raised where the oracle reaches it.
    threshold = float(np.max(values[:-20])) * 0.999
    detector = MMDDetector(random_state=0, n_reference=n_reference, run_length=max(threshold, 1))
    first = bets[int(np.argmax(values >= max(threshold, 1)))][0]
    assert detector.update_many(X).alarms_[0] == first


def test_a_classifier_scores_before_it_learns():
    X = stream("classifier", n=500, change=300)
    model, payoffs = KernelRLSClassifier(forgetting=0.998, n_components=200), []
    bets = oracle.pairs(X, 60)
    for start in range(0, len(bets), 16):
        rows = np.array([row for _, r, x in bets[start : start + 16] for row in (r, x)])
        if start:
            scores = model.decision_function(rows)
            payoffs += np.clip((scores[1::2] - scores[::2]) / 2, -1, 1).tolist()
        else:
            payoffs += [0.0] * (len(rows) // 2)
        if len(rows) == 32:
            model.partial_fit(rows, np.tile([-1, 1], 16), classes=[-1, 1])
    detector = ClassifierDetector(n_reference=60, run_length=1e300).update_many(X)
    values = oracle.wealth(np.array(payoffs)[:, None])
    assert detector.statistic_ == pytest.approx(values[-1], rel=1e-6)
    assert values[-1] > 1e3


@pytest.mark.parametrize("kind", ["mistakes", "errors", "constant"])
def test_losses_against_the_oracle(kind):
    rng = np.random.default_rng(2)
    given = {
        "mistakes": (rng.random(120) < 0.3).astype(float),
        "errors": rng.integers(0, 256, size=120) / 255,
        "constant": np.zeros(120),
    }[kind]
    detector = LossDetector(random_state=0, run_length=1e300).update_many(given)
    draws = [oracle.uniform(detector._seed, number) for number in range(120)]
    values = oracle.wealth(oracle.loss_payoffs(given, draws))
    assert detector.statistic_ == pytest.approx(values[-1], rel=1e-9)


def test_tolerated_losses_against_the_oracle():
    given = np.abs(np.random.default_rng(3).normal(size=100))
    detector = LossDetector(tolerated=0.4, bound=2.0, run_length=1e300).update_many(given)
    payoffs = np.minimum(given / 2, 1)[:, None] / 0.4 - 1
    assert detector.statistic_ == pytest.approx(oracle.wealth(payoffs)[-1], rel=1e-9)


def test_draws_are_uniform_and_independent():
    draws = np.array([oracle.uniform(7, number) for number in range(20_000)])
    assert draws.min() > 0
    assert draws.max() < 1
    counts = np.histogram(draws, bins=20, range=(0, 1))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 45  # 19 degrees of freedom
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.03


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("size", [1, 7, 64, 333])
def test_cuts_of_a_stream_change_no_bit(name, size):
    X = stream(name)
    whole = DETECTORS[name](run_length=500).update_many(X)
    cut = DETECTORS[name](run_length=500)
    for start in range(0, len(X), size):
        cut.update_many(X[start : start + size]) if size > 1 else cut.update(X[start])
    same(whole, cut)
    assert (whole.alarms_ > 600).any()


@pytest.mark.parametrize("name", DETECTORS)
def test_drift_detected_is_of_the_last_call(name):
    X = stream(name)
    detector, found = DETECTORS[name](run_length=500), []
    assert detector.drift_detected is False
    assert (detector.alarms_.tolist(), detector.n_seen_) == ([], 0)
    for number, x in enumerate(X, 1):
        if detector.update(x).drift_detected:
            found.append(number)
    assert found == detector.alarms_.tolist()
    assert detector.alarms_.dtype == np.int64
    assert DETECTORS[name](run_length=500).update_many(X).drift_detected


@pytest.mark.parametrize("way", ["save", "pickle", "copy", "deepcopy"])
@pytest.mark.parametrize("at", [0, 50, 100, 130, 400, 700])
@pytest.mark.parametrize("name", DETECTORS)
def test_a_copy_goes_on_with_the_same_bits(name, at, way, tmp_path):
    X = stream(name)
    detector = DETECTORS[name]()
    if at:
        detector.update_many(X[:at])
    if way == "save":
        detector.save(tmp_path / "detector.okn")
        other = load(tmp_path / "detector.okn")
    else:
        other = {
            "pickle": lambda: pickle.loads(pickle.dumps(detector)),
            "copy": lambda: copy.copy(detector),
            "deepcopy": lambda: copy.deepcopy(detector),
        }[way]()
    # What one learns is no matter to the other.
    other.update_many(X[at:])
    detector.update_many(X[at:])
    same(detector, other)


@pytest.mark.parametrize("name", DETECTORS)
def test_reset_and_clone(name):
    X = stream(name)
    detector = DETECTORS[name](run_length=500)
    once = copy.copy(detector).update_many(X)
    detector.update_many(X).reset()
    assert (detector.n_seen_, detector.drift_detected) == (0, False)
    same(detector.update_many(X), once)
    other = clone(detector)
    assert other.get_params() == detector.get_params()
    assert other.n_seen_ == 0
    same(other.update_many(X), once)


BAD_ROWS = {
    "width": (np.zeros((2, 4)), ValueError, "X has 4 features"),
    "nan": (np.array([[0.0, np.nan, 0.0]]), ValueError, "X .*NaN"),
    "infinite": (np.array([[0.0, np.inf, 0.0]]), ValueError, "X .*infinity"),
    "text": ([["a", "b", "c"]], ValueError, "X"),
    "sparse": (sparse.csr_matrix(np.ones((1, 3))), TypeError, "X is sparse"),
    "empty": (np.zeros((0, 3)), ValueError, "0 sample"),
}


@pytest.mark.parametrize("bad", BAD_ROWS)
@pytest.mark.parametrize("at", [50, 400])
@pytest.mark.parametrize("name", OF_ROWS)
def test_bad_rows_leave_the_detector_as_it_was(name, at, bad):
    detector = DETECTORS[name]().update_many(stream(name)[:at])
    before = state(detector)
    rows, error, message = BAD_ROWS[bad]
    with pytest.raises(error, match=message):
        detector.update_many(rows)
    assert state(detector) == before


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, "x", [[1.0]], None])
@pytest.mark.parametrize("name", ["losses", "tolerated"])
def test_bad_losses_leave_the_detector_as_it_was(name, bad):
    detector = DETECTORS[name]().update_many(stream(name)[:300])
    before = state(detector)
    with pytest.raises(ValueError, match="loss"):
        detector.update_many([0.5, bad])
    if not isinstance(bad, list):
        with pytest.raises(ValueError, match="loss"):
            detector.update(bad)
    assert state(detector) == before


class Failing(PAClassifier):
    """A classifier that fails in the third block."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if getattr(self, "n_seen_", 0) >= 64:
            raise FloatingPointError("too large")
        return super().partial_fit(X, y, classes, sample_weight)

    @property
    def n_seen_(self):
        return self._model.n_seen if "_model" in self.__dict__ else 0


@pytest.mark.parametrize("at", [170, 180, 200])
@pytest.mark.parametrize("single", [False, True])
def test_a_call_that_fails_in_the_middle_leaves_no_trace(at, single):
    X = stream("classifier", n=400, change=400)
    detector = ClassifierDetector(classifier=Failing(), n_reference=60)
    detector.update_many(X[:at])
    if single:
        rows, failed = iter(X[at:]), False
        while not failed:
            before = copy.deepcopy(detector)
            try:
                detector.update(next(rows))
            except FloatingPointError:
                failed = True
    else:
        before = copy.deepcopy(detector)
        with pytest.raises(FloatingPointError):
            detector.update_many(X[at:])
    same(detector, before)
    # Both go on alike with a classifier that does not fail.
    for one in (detector, before):
        one._witness.__class__ = PAClassifier
        one.update_many(X[at:])
    same(detector, before)
    scores = [one._witness.decision_function(X) for one in (detector, before)]
    np.testing.assert_array_equal(*scores)


class FailingLater(Failing):
    """A classifier that has learnt a block, and then cannot score."""

    def decision_function(self, X):
        if self.n_seen_ > 32 and not self.__dict__.get("scores"):
            raise FloatingPointError("too large")
        return super().decision_function(X)


@pytest.mark.parametrize("rows", [2, 9, 20, 60])
def test_a_call_that_fails_after_a_block_leaves_no_trace(rows):
    X = stream("classifier", n=400, change=400)
    detector = ClassifierDetector(classifier=FailingLater(), n_reference=60)
    at = 160
    while detector.update_many(X[detector.n_seen_ : at])._n_pairs < 15 or at < 200:
        at += 1
    assert detector._witness.n_seen_ == 32
    before = copy.deepcopy(detector)
    # The pair that completes the block comes with one of the next two rows.
    with pytest.raises(FloatingPointError):
        detector.update_many(X[at : at + 2 + rows])
    for one in (detector, before):
        one._witness.scores = True
        one._witness.__class__ = PAClassifier
        one.update_many(X[at:])
    same(detector, before)
    scores = [one._witness.decision_function(X) for one in (detector, before)]
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("start", [130, 159, 160, 161, 170])
@pytest.mark.parametrize("given", [False, True])
def test_the_pairs_of_a_call_are_known_before(start, given):
    X = np.random.default_rng(0).normal(size=(400, 2))
    begun = MMDDetector(n_reference=60, random_state=0)
    begun = begun.fit(X[:start]) if given else begun.update_many(X[:start])
    for count in range(1, 80):
        one, made = copy.deepcopy(begun), []
        one._payoffs = lambda pairs, made=made: (
            made.append(len(pairs) // 2) or np.zeros((len(pairs) // 2, 2))
        )
        expected = one._most_pairs(count, one._queue)
        one.update_many(X[start : start + count])
        assert sum(made) == expected


BAD_PARAMETERS = [
    ("mmd", "run_length", 0.5),
    ("mmd", "forgetting", 1.0),
    ("mmd", "n_components", 0),
    ("mmd", "n_reference", 0),
    ("mmd", "gamma", "wide"),
    ("classifier", "n_reference", 2.5),
    ("classifier", "classifier", "svc"),
    ("classifier", "classifier", SPARegressor()),
    ("losses", "tolerated", 1.0),
    ("losses", "bound", 0.0),
]


@pytest.mark.parametrize(("name", "parameter", "value"), BAD_PARAMETERS)
def test_bad_parameters_are_named(name, parameter, value):
    detector = DETECTORS[name]().set_params(**{parameter: value})
    with pytest.raises((ValueError, TypeError), match=parameter):
        detector.update_many(stream(name))
    assert detector.n_seen_ == 0
    assert set(vars(detector)) == set(detector.get_params(deep=False))


@pytest.mark.parametrize("name", ["mmd", "losses"])
def test_the_promise_is_kept(name):
    """At least `run_length` bets between alarms, of streams that do not change.

    The number of alarms in n bets is at most about a Poisson number of the mean n / run_length.
    """
    rng = np.random.default_rng(5)
    n, length = 60_000, 500
    if name == "mmd":
        given, bets = rng.standard_t(3, size=(n, 2)), n / 2
    else:
        given, bets = (rng.random(n) < 0.2).astype(float), n
    detector = DETECTORS[name](run_length=length).update_many(given)
    expected = bets / length
    alarms = len(detector.alarms_)
    assert alarms <= expected + 3 * expected**0.5
    assert alarms > 0


def test_the_promise_of_a_classifier_is_kept():
    X = np.random.default_rng(6).exponential(size=(12_000, 3))
    detector = ClassifierDetector(classifier=PAClassifier(), n_reference=60, run_length=300)
    expected = len(X) / 2 / 300
    assert len(detector.update_many(X).alarms_) <= expected + 3 * expected**0.5


def test_a_tolerated_loss_may_depend_on_those_before():
    """Losses in runs: ranks take them for changes, a tolerated mean does not."""
    rng = np.random.default_rng(7)
    level = np.repeat(rng.random(200) < 0.5, 100) * 0.2
    runs = (rng.random(len(level)) < level).astype(float)
    assert len(LossDetector(random_state=0, run_length=2000).update_many(runs).alarms_) > 20
    allowed = LossDetector(tolerated=0.2, run_length=2000).update_many(runs)
    assert len(allowed.alarms_) <= 10


def correlated(n, change, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 6))
    X[change:, 1] = 0.9 * X[change:, 0] + (1 - 0.81) ** 0.5 * X[change:, 1]
    return X


@pytest.mark.parametrize("make", [MMDDetector, ClassifierDetector])
def test_a_change_of_a_correlation_is_found_and_its_features_are_named(make):
    detector = make(**({"random_state": 0} if make is MMDDetector else {}))
    with pytest.raises(AttributeError, match="after an alarm"):
        detector.feature_shares_  # noqa: B018
    detector.update_many(correlated(4000, 2500))
    assert (detector.alarms_ > 2500).sum() >= 1
    shares = detector.feature_shares_
    assert shares.sum() == pytest.approx(1)
    assert shares.min() >= 0
    assert set(np.argsort(shares)[-2:].tolist()) == {0, 1}


@pytest.mark.parametrize("name", OF_ROWS)
def test_reference_rows_that_are_given_bet_on_every_row(name):
    X = stream(name, n=1000, change=1000)
    later = stream(name, n=200, change=0, seed=1)
    detector = DETECTORS[name]().fit(X)
    assert (detector.n_seen_, detector.alarms_.tolist()) == (0, [])
    waiting = len(detector._queue)
    assert waiting == 900
    detector.update_many(later)
    first = int(detector.alarms_[0])
    assert 10 < first < 120
    # From the stream itself it takes two samples for a bet.
    other = DETECTORS[name]().update_many(np.concatenate([X[:900], later]))
    assert other.alarms_[0] - 900 > first


def test_few_reference_rows_are_completed_by_the_stream():
    X = stream("mmd", n=400, change=400)
    given = MMDDetector(random_state=0, n_reference=60).fit(X[:50])
    given.update_many(X[50:])
    plain = MMDDetector(random_state=0, n_reference=60).update_many(X)
    assert given.statistic_ == plain.statistic_


def test_numbers_are_rows_of_one_feature():
    x = stream("losses", n=900, change=500)
    one = DETECTORS["mmd"]()
    for value in x:
        one.update(value)
    same(one, DETECTORS["mmd"]().update_many(x[:, None]))


def test_columns_that_are_constant_or_huge():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(800, 3.0), rng.normal(size=800) * 1e300, np.zeros(800)])
    X[500:, 0] = 4.0
    for name in OF_ROWS:
        detector = DETECTORS[name]().update_many(X)
        assert (detector.alarms_ > 500).any()
        assert np.argmax(detector.feature_shares_) == 0


def test_long_tails_are_no_warning_of_the_witness(tmp_path):
    X = np.random.default_rng(5).standard_cauchy((1500, 2)) ** 3
    detector = ClassifierDetector(run_length=100).update_many(X)  # warnings are errors of tests
    detector.save(tmp_path / "detector.okn")
    again = load(tmp_path / "detector.okn").update_many(X)
    assert again.alarms_.tolist() == detector.update_many(X).alarms_.tolist() != []
    with pytest.warns(UserWarning, match="the scales of the features differ"):
        ClassifierDetector(classifier=KernelRLSClassifier(), run_length=100).update_many(X)


def test_a_detector_listens_to_a_learner():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = (X[:, 0] > 0) ^ (np.arange(3000) >= 2000)
    detector, renewed = LossDetector(random_state=0), []

    def begin_anew(model, number):
        renewed.append(number)
        return clone(model)

    result = prequential(
        PAClassifier(), [(X, y)], [False, True], detector=detector, on_drift=begin_anew
    )
    assert result.drifts.tolist() == renewed == detector.alarms_.tolist()
    assert 2000 < renewed[-1] < 2100


def test_parameters_take_effect_when_a_detector_begins_anew():
    given = stream("losses")
    detector = LossDetector(random_state=0, run_length=500).update_many(given[:300])
    detector.set_params(run_length=1e300)
    expected = LossDetector(random_state=0, run_length=500).update_many(given)
    detector.update_many(given)
    assert len(detector.alarms_) == 1 <= len(expected.alarms_)


def test_a_queue_keeps_the_order():
    queue, expected = RowQueue(), []
    rng = np.random.default_rng(0)
    for number in range(2000):
        if rng.random() < 0.55 or not expected:
            queue.append(np.full(2, float(number)))
            expected.append(float(number))
        else:
            assert queue.pop()[0] == expected.pop(0)
        assert len(queue) == len(expected)
        assert queue.is_sound(2)
        assert len(queue.blocks) <= len(queue) // ROWS + 2


DAMAGED = {
    "_wealth": (1.0,),
    "_found": (3, 2),
    "_n_seen": -1,
    "_n_pairs": 99,
    "_scale": np.zeros(3),
    "_centre": np.full(3, np.nan),
    "_queue": None,
    "_recent": (np.zeros((1, 3)),),
    "_features": None,
    "_directions": (np.zeros(3), np.zeros(6)),
    "_squares": (-1.0, 1.0),
    "_kept": 2.0,
    "n_features_in_": 4,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_state_is_refused(name):
    detector = DETECTORS["mmd"]().update_many(stream("mmd")[:300])
    data = vars(detector).copy()
    fresh = object.__new__(MMDDetector)
    with pytest.raises(ValueError, match="does not fit together"):
        fresh.__setstate__({**data, name: DAMAGED[name]})
    fresh.__setstate__(data)


@pytest.mark.parametrize("name", ["_counts", "_known", "_bound", "_seed", "_threshold", "_alarmed"])
def test_a_damaged_state_of_losses_is_refused(name):
    data = vars(DETECTORS["losses"]().update_many(stream("losses")[:300])).copy()
    with pytest.raises(ValueError, match="does not fit together"):
        object.__new__(LossDetector).__setstate__({**data, name: "x"})


def test_names_of_columns_are_checked():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(stream("mmd"), columns=["a", "b", "c"])
    detector = DETECTORS["mmd"](run_length=500).update_many(X[:300])
    with pytest.raises(ValueError, match="feature names"):
        detector.update_many(X[["b", "a", "c"]])
    # Single rows have no names, and warn of nothing.
    for row in X.to_numpy()[300:]:
        detector.update(row)
    same(detector, DETECTORS["mmd"](run_length=500).update_many(X.to_numpy()))


@pytest.mark.parametrize("name", DETECTORS)
def test_threads_wait_for_each_other(name):
    X, detector = stream(name), DETECTORS[name]()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(detector.update, X))
    assert detector.n_seen_ == len(X)
    assert len(pickle.loads(pickle.dumps(detector)).alarms_) == len(detector.alarms_)


@pytest.mark.parametrize("name", OF_ROWS)
def test_the_caller_s_arrays_are_not_kept(name):
    X = stream(name)
    expected, detector = DETECTORS[name]().update_many(X.copy()), DETECTORS[name]()
    for start in range(0, len(X), 50):
        part = X[start : start + 50].copy()
        detector.update_many(part)
        part[:] = np.nan
    same(detector, expected)
