"""StreamClassifier and StreamRegressor: learners of raw streams that have nothing to choose."""

from collections.abc import Hashable
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import is_classifier
from sklearn.utils import check_consistent_length

from onlinekern.core.learning.labels import class_numbers
from onlinekern.core.learning.trials import alarms_of
from onlinekern.core.learning.twin import TwinTarget
from onlinekern.core.learning.vote import MeanVote, Vote
from onlinekern.core.race import Race
from onlinekern.core.renewed_race import renewed
from onlinekern.core.samples.rows import rows_at
from onlinekern.estimators.array_types import column_of_labels
from onlinekern.estimators.calibration import FLOOR
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.encoded_tables import Encoded, encoded, feature_names
from onlinekern.estimators.memory import Form
from onlinekern.estimators.parameters import Positive, estimator
from onlinekern.estimators.regression import OnlineRegressor
from onlinekern.estimators.row_blocks import one_after_another, rows_of
from onlinekern.estimators.types import Array, ArrayLike, Floats, Indices, Sample, Samples
from onlinekern.estimators.validation import (
    check_weights,
    csr_of,
    has_more,
    labels_of,
    learn_row,
    no_name_warnings_for,
    own_weight,
    same_labels,
    validate_data,
)
from onlinekern.estimators.warnings import warn
from onlinekern.learners.race.experts import former_versions, ladder, slots_in_room, that_fit
from onlinekern.learners.race.growing import (
    MEGABYTE,
    bytes_of_race,
    check_beginning,
    check_kind,
    check_waiting,
    draws_after,
    first_places,
    form_of,
    grown_race,
    kept_rows,
    megabytes,
)
from onlinekern.learners.race.kinds import (
    CLIP,
    FORGETTING,
    WIDE_CLIP,
    Expert,
    Layout,
    new_moments,
)
from onlinekern.learners.race.report import RaceReport, importances_of, report_of

FLOATS = [np.float64, np.float32]
# Samples kept as long as all of them are of one class.
MOST_WAITING = 1000
# A race begins again with smaller experts if a forest keeps this share of the rows so far.
KEPT = 0.75
# Up to so many megabytes there is no warning, since a race has one expert at least.
LITTLE = 1.0
# If there are fewer first rows than FEW_ROWS, slots are planned for EXPECTED classes.
FEW_ROWS, EXPECTED = 100, 8


@estimator
class StreamLearner(Learner):
    """Mixin of learners whose model is a race of experts."""

    time_budget: Positive = 100.0
    memory_budget: Positive = 64.0

    _calls_blas = True
    _any_scale = True
    _takes_wide = True
    # The budgets that the race began with; budgets set in mid-stream wait for `fit`. () in races of
    # older files.
    _budgets_at_first = tuple[float, ...]()
    # Outputs when the race began, which decided the sizes of the experts. 0 in races of older
    # files.
    _outputs_at_first = 0
    # Features reserved for new categories at that time; widths of kernels do not count them.
    _empty_at_first = 0
    # Indices of the experts that are left, among those that the race began with; () if all are.
    _stayed = tuple[int, ...]()
    _task: ClassVar[str]
    _votes: ClassVar[type[Vote]]

    def _experts(
        self, n_features: int, n_outputs: int, is_sparse: bool, layout: Layout = ()
    ) -> list[Expert]:
        time, room = self._budgets()
        form = n_features, n_outputs, is_sparse
        table = layout, self._empty_at_first
        return ladder(self._task, *form, time, room * MEGABYTE, *table)

    def _budgets(self) -> tuple[float, ...]:
        """Return microseconds and megabytes: those that the race began with, if there is one."""
        return self._budgets_at_first or (float(self.time_budget), float(self.memory_budget))

    def _n_bytes(self, form: Form) -> int:
        own = form.n_features, form.n_outputs, form.is_sparse
        # Memory of renewals does not make experts smaller: memory_budget is for what is kept.
        return bytes_of_race(self._experts(*own), own, is_taught=True)

    def _encoding(self, X: Any, y: Any) -> dict[str, Any]:
        return {**super()._encoding(X, y), "slots": self._slots(y)}

    def _slots(self, y: Any) -> int:
        room = float(self.memory_budget) * MEGABYTE
        return slots_in_room(self._task, self._planned_outputs(y), room)

    def _planned_outputs(self, y: Any) -> int:
        """Return for how many outputs slots are planned."""
        return 1

    def _new_model(self, X: Any, draws: np.random.RandomState) -> Any:
        head = self._head()
        vars(self).pop("_warned_of_room", None)  # This race is a new one.
        self._budgets_at_first = float(self.time_budget), float(self.memory_budget)
        self._check_features(X, head.n_outputs)
        return self._new_race(X, draws, head, head.n_outputs)

    def _new_race(
        self, X: Any, draws: np.random.RandomState, head: Any, n_outputs: int,
        n_empty: int | None = None,
    ) -> Any:  # fmt: skip
        """Return a race for rows like X, with experts sized for `n_outputs`.

        `n_empty` features are reserved for new categories; None: as many as in the encoder.
        """
        d, is_sparse = X.shape[1], sp.issparse(X)
        self._outputs_at_first, self._stayed = n_outputs, ()
        encoder = vars(self).get("encoder_") or vars(self).get("_encoder_in_front")
        if n_empty is None:
            n_empty = 0 if encoder is None else encoder.n_empty_
        self._empty_at_first = n_empty
        layout = () if encoder is None else encoder.layout_
        experts = self._experts(d, n_outputs, is_sparse, layout)
        self._warn_of_room(experts, (d, head.n_outputs, is_sparse))
        rows = rows_at(X, slice(1))
        race = Race(
            [expert.model(rows, self, draws) for expert in experts],
            [expert.cost for expert in experts],
            self._votes(tuple(expert.link for expert in experts), head.n_outputs),
            new_moments(d, is_sparse),
            head,
            X.dtype,
            self._budgets()[0],
            WIDE_CLIP if self._task == "regression" and not is_sparse else CLIP,
            FORGETTING,
            layout,
            [expert.patience for expert in experts],
            [TwinTarget() if expert.twin else None for expert in experts],
        )
        return renewed(race)

    def _check_growth(self, head: Any) -> None:
        race: Any = self._model
        d, n_outputs, is_sparse = form_of(race, head.n_outputs)
        self._check_form(Form(d, n_outputs, race.dtype.itemsize, is_sparse))

    def _warn_of_room(self, experts: list[Expert], form: tuple[int, int, bool]) -> None:
        """Warn, once per race, if even the smallest race exceeds `memory_budget`."""
        taken, room = megabytes(experts, form), self._budgets()[1]
        if taken <= max(LITTLE, room) or vars(self).get("_warned_of_room"):
            return
        self._warned_of_room = True
        n_features, n_outputs, _ = form
        classes = f" and {n_outputs} classes" if n_outputs > 1 else ""
        warn(
            f"memory_budget={room:g} has no room for a race: with {n_features:,} "
            f"features{classes} its only expert takes some {taken:,.0f} megabytes, and more if "
            "more classes come. Fewer features take less: TableEncoder(slots=...) of categories "
            "and words that share slots, --slots on the command line",
            UserWarning,
        )

    def _next_calls_blas(self) -> bool:
        race: Any = self._model
        return bool(race.next_calls_blas())

    def _ladder(self, race: Any) -> list[Expert]:
        """Return the experts of a race that are left."""
        n_outputs = self._outputs_at_first or race.head.n_outputs
        found = self._experts(race.d, n_outputs, not race.moments.centred, race.layout)
        for experts in former_versions(found):
            if self._stayed and max(self._stayed) < len(experts):
                experts = [experts[k] for k in self._stayed]
            rules = [type(expert.estimator._rule()) for expert in experts]
            if rules == [type(model.rule) for model in race.experts]:
                return experts
        raise ValueError(
            f"this race has {len(race.experts)} experts, and would have {len(found)}, or others, "
            "today: a former version made it, or parameters have been set since. It goes on "
            "learning and predicting, but has no report and takes no further classes: a race that "
            "learns the stream anew has both"
        )

    def _check_loaded(self) -> None:
        super()._check_loaded()
        check_beginning(self)

    def _renew(self, model: Any) -> None:
        """Do nothing: the experts keep their parameters."""

    def _learn(self, model: Any, X: Any, *arguments: Any, **named: Any) -> Any:
        # joblib takes microseconds to resolve None, and a single row needs one thread.
        if X.shape[0] > 1:
            model.n_threads = min(effective_n_jobs(self.n_jobs), len(model.experts))
        return super()._learn(model, X, *arguments, **named)

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the gradients of the better forest, ndarray."""
        return importances_of(self._fitted_model)

    @property
    def importance_names_(self) -> Array | None:
        """Names of the features of `feature_importances_`; a column of categories is one."""
        race: Any = self._fitted_model
        if "encoder_" not in vars(self) or not race.layout:
            return feature_names(self)
        return vars(self)["encoder_"]._names_in_layout()

    @property
    def alarms_(self) -> Indices:
        """Numbers of the samples after which a new race began beside the old one."""
        return alarms_of(self._fitted_model)

    def report(self) -> RaceReport:
        """Report which expert led when, what each costs, and which plain estimator does the same.

        Returns
        -------
        RaceReport
            Its text is a table: ``print(model.report())``. ``report().estimator()`` is a pipeline
            of a scaler and the leading expert, not fitted; ``report().plot(path)`` draws the
            weights of the experts along the stream.

        Raises
        ------
        NotFittedError
            If there is no race yet: nothing has been learnt, or one class only.
        """
        race: Any = self._fitted_model
        experts = self._ladder(race)
        for one in experts if is_classifier(self) else ():
            # The race multiplies weights of samples by class weights; alone, the expert needs them.
            one.estimator.set_params(class_weight=getattr(self, "class_weight", None))
        found = report_of(race, experts, self._task, feature_names(self))
        form = form_of(race, race.head.n_outputs)
        memory, most = (
            bytes_of_race(experts, form, is_taught) / MEGABYTE for is_taught in (False, True)
        )
        encodes = "encoder_" in self.__dict__
        return replace(found, encodes=encodes, memory=memory, most_memory=most)


@estimator
class StreamClassifier(StreamLearner, OnlineClassifier):
    """Classification of raw streams, with nothing to choose.

    Features come in any units, dense or sparse. New classes are added when they come; `classes`
    need not be given. The stream may drift.

    The model is an ensemble, a race of ten experts [1]_ [2]_, whose weighted vote predicts each
    sample before they learn it (docs/race.md). Two experts are kernel forests, which get the raw
    features; one of them grows from the last 512 samples. The others get features that are
    standardised by running moments: kernel least squares, with and without forgetting, linear
    least squares, linear PA-I and AROW, PA-I with narrow kernels and the last 500 support vectors,
    and gradient descent on Fourier features and on linear ones; for more than 20 classes also
    linear logistic regression, whose softmax is one loss for all. The weight of an expert is
    ``exp(-60 (sqrt(e) - sqrt(min e)))``, where e is the discounted mean (0.999, at first less) of
    its mistakes so far. The linear combination of the experts with the least squared error votes as
    one more [3]_.

    Bad experts sleep: they learn only every eighth segment of 256 samples, and wake when the vote
    gets worse. When a test (`onlinekern.drift.LossDetector`) shows that the losses have grown, a
    new race begins beside this one. Both learn for 1,000 samples, and the one with fewer errors is
    kept. If time or memory have no room for ten trees, kernels of three widths, linear least
    squares with forgetting and a budgeted kernel PA replace the forests.

    Parameters
    ----------
    time_budget : float > 0, default=100.0
        Microseconds that a sample may cost, most of the time, on one core of 2024 with AVX2. It
        decides how large the experts are and how many of them vote. It is nominal: no time is
        measured, so that results are the same on every machine. The first 1,024 samples cost about
        twice as much, because all experts learn them. So do the 1,000 samples after an alarm,
        because two races learn them. The default gives the forests 80 and 30 trees (in regression
        55 to 132, more with fewer features, and 15), and the largest kernel 300 landmarks (in
        regression 200 to 300).
    memory_budget : float > 0, default=64.0
        Megabytes that the models of the experts may take, as estimated at the first call. Buffers
        and copies to undo a call are not counted; they take up to 20. Nor is the teacher of a
        forest while it is renewed: with hundreds of features it may take as much as the models, and
        `report()` estimates it (`most_memory`). For 1,000 samples after an alarm, a second race
        takes as much as the first (docs/race.md).

        The estimate is for the classes that are known then, so give `classes` to the first call if
        they are many. If later classes exceed the budget, the race begins again with smaller
        experts, sized for twice as many classes. They learn the rows that the larger forest keeps,
        as long as these are three quarters of all (up to some 7,000 rows). After that, experts
        leave the race, those of the least weight first, and a warning names them. One always stays,
        and a warning says what it takes. Categories and words that share slots (docs/tables.md) get
        fewer slots if the first call has many classes.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the weights of the samples of each class, see `sample_weight`: a dictionary
        from labels to numbers >= 0 (labels that it leaves out have 1), or 'balanced',
        ``n_samples / (n_classes * n_samples_of_class)``. `fit` counts all that it gets;
        `partial_fit` and `learn_one` count the samples so far, each with itself.

        A dictionary may hold labels that come later. The factors act in every expert and in the
        vote.
    encode : {'auto', True, False}, default='auto'
        Whether the model encodes the columns of tables itself, with an encoder `encoder_`
        (docs/tables.md). 'auto' does if the first samples are a data frame or an Arrow table with
        text, categories, dates or missing values, or dictionaries; numbers stay as they are. True
        also encodes arrays. False never encodes.
    n_epochs : int >= 1, default=1
        Passes of `fit` over the data. `partial_fit` always makes one.

        The shares of the vote come from the first pass only: on samples that they have learnt,
        experts that memorise are ahead.
    shuffle : bool, default=True
        Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order and of the experts' draws.
    window : int >= 1 or None, default=None
        Samples whose kernel values are computed together; None lets each expert choose. It
        changes the speed, never a result.
    n_jobs : int or None, default=None
        Threads for learning the experts and for predicting rows; None means 1 unless in a
        ``joblib.parallel_backend`` context. It never changes a result.
    verbose : int, default=0
        If not 0, `fit` shows its progress: as a bar on a terminal and in a notebook, and as some
        lines in a log, on standard error. Results do not change.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_mistakes_ : int
        Samples whose prediction, made before they were learnt, was wrong.
    alarms_ : ndarray of shape (n_alarms,), int64
        Numbers of the samples, counted from 1, after which a new race began beside the old one.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the mean square of the gradient of the function that a kernel
        forest has learnt, in units of the spread of the features. It is that of the forest with the
        larger weight in the vote. In tables, a column of categories is one feature.
    importance_names_ : ndarray of str, or None
        Names of these features, if the samples had names of columns.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    cumulative_loss_ : float
        Sum of weight times loss of the race's predictions, each made before its sample was learnt.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    `decision_function` is the weighted sum of the experts' shares for each class. They sum to 1;
    some may be below 0. With two classes it is the share of ``classes_[1]`` less that of the other.

    The same samples give the same model, however they are divided into calls. Time and memory per
    sample do not grow with the stream. All experts but the forests get features in float32 that are
    clipped to five standard deviations (in regression, on dense samples, to 20). d in the widths of
    kernels is the number of features. The prediction made before a sample is learnt is scaled by
    moments that include it; `predict` scales by those of the samples learnt.

    A `sample_weight` acts in each expert as in the expert's own class. In the vote it counts as
    that many samples.

    References
    ----------
    .. [1] N. Littlestone, M. K. Warmuth (1994). The weighted majority algorithm. Information and
       Computation 108, 212-261.
    .. [2] N. Cesa-Bianchi, G. Lugosi (2006). Prediction, learning, and games. Cambridge University
       Press.
    .. [3] J. M. Bates, C. W. J. Granger (1969). The combination of forecasts. Operational Research
       Quarterly 20, 451-468.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from onlinekern import StreamClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X * np.logspace(-6, 6, 64)  # units that differ
    >>> model = StreamClassifier(random_state=0)
    >>> predicted = model.partial_fit_predict(X, y)
    >>> bool(np.mean(predicted != y) < 0.06)
    True
    >>> model.report().leader.name
    'kernel least squares, gamma 1/d'
    """

    # Each expert has a multi_class of its own.
    multi_class: ClassVar[Any] = "ovr"  # type: ignore[misc]

    _takes_labels_up = True
    _floor = FLOOR
    _task = "classification"
    _votes = Vote

    def predict(self, X: Samples) -> Array:
        """Predict the labels of samples; as long as one label has come only, it is predicted.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If X has not `n_features_in_` finite features.
        """
        if "_waiting" not in self.__dict__:
            return super().predict(X)
        rows = validate_data(self, X, dtype=FLOATS, reset=False)
        return np.repeat(self.__dict__["_waiting"][1][:1], rows.shape[0])

    def learn_one(
        self,
        x: Sample,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: float = 1.0,
    ) -> Self:
        """Learn one sample, without scikit-learn's validation.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or dict
            Fastest as an array, C-contiguous and of the model's dtype. The keys of a dictionary are
            the names of the columns (docs/tables.md).
        y : label
            A new label becomes a class.
        classes : array-like of shape (n_classes,), default=None
            As in `partial_fit`.
        sample_weight : float >= 0, default=1.0

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If x has not `n_features_in_` finite features, the weight is negative or not finite, or
            y is text among numbers or the other way round.
        """
        if self.__sklearn_is_fitted__() and not self._is_known(y):
            return learn_row(self, x, [y], classes, own_weight(sample_weight))
        return super().learn_one(x, y, classes, sample_weight)

    def _is_known(self, y: Any) -> bool:
        # A look-up is quick, but equal dates of different units may have different hashes.
        if isinstance(y, Hashable) and y in self._numbers:
            return True
        try:
            return bool(np.isin(y, self.classes_))
        except (TypeError, ValueError):  # A missing value, or several: `partial_fit` raises.
            return False

    def _classes(self, classes: ArrayLike | None) -> Any:
        # Classes are added as they come, also beside those given.
        if classes is None:
            return None
        # A quick test for the usual case, the same labels.
        others = self.__sklearn_is_fitted__() and not same_labels(classes, self.classes_)
        if others and has_more(self.classes_, labels_of(classes)):
            return self.classes_
        return super()._classes(classes)

    def _partial_fit(
        self, X: Any, y: Any, labels: Any, sample_weight: Any, scored: bool = False
    ) -> Any:
        # The whole call is encoded before it is divided: it decides the kinds of the columns.
        start = not self.__sklearn_is_fitted__() and "_waiting" not in self.__dict__
        told = {*labels.tolist()} if start and labels is not None else y
        rows = encoded(self, X, start, learn=True, y=told)
        with no_name_warnings_for(X):
            return self._learn_labels(rows, y, labels, sample_weight, scored)

    def _learn_labels(self, X: Any, y: Any, labels: Any, sample_weight: Any, scored: bool) -> Any:
        """Learn rows of numbers, in pieces that each begin with a new label."""
        fitted = self.__sklearn_is_fitted__()
        given = np.asarray(y) if type(y) is list else y
        if fitted and class_numbers(given, self.classes_) is not None:
            return super()._partial_fit(X, given, self.classes_, sample_weight, scored)
        X, y = csr_of(X), column_of_labels(y)
        check_consistent_length(X.rows if isinstance(X, Encoded) else X, y)
        sample_weight = check_weights(sample_weight, y)
        known = self.classes_ if fitted else self._announced(labels)
        check_kind(y, known)
        starts = first_places(y, known)
        if len(starts) == 0 and (fitted or len(known) > 1):
            return super()._partial_fit(X, y, known, sample_weight, scored)
        edges = sorted({0, *starts, len(y)})
        # `_learn_piece` raises if there are no rows.
        pieces = [slice(*piece) for piece in pairwise(edges)] or [slice(0, 0)]
        found = [self._learn_piece(X, y, sample_weight, piece, labels) for piece in pieces]
        return np.concatenate(found)

    def _planned_outputs(self, y: Any) -> int:
        # A set holds the classes given to the first call, not its targets.
        try:
            labels = [*y] if isinstance(y, set) else np.asarray(y, dtype=object).ravel().tolist()
            count = len({*labels})
        except (TypeError, ValueError):  # Invalid labels: learning them raises.
            return 1
        if not isinstance(y, set) and len(labels) < FEW_ROWS:
            count = max(count, EXPECTED)
        return count if count > 2 else 1

    def _announced(self, labels: Any) -> Any:
        """Return the labels known before the first model is made."""
        if labels is not None:
            return labels
        return self.__dict__["_waiting"][1][:1] if "_waiting" in self.__dict__ else np.empty(0)

    def _learn_piece(self, X: Any, y: Any, sample_weight: Any, piece: slice, labels: Any) -> Any:
        """Learn rows of which only the first may have a new class."""
        whole = piece == slice(0, len(y))
        rows = X if whole else rows_of(X, piece)
        targets = y[piece]
        weight = None if sample_weight is None else np.asarray(sample_weight)[piece]
        fitted = self.__sklearn_is_fitted__()
        known = self.classes_ if fitted else self._announced(labels)
        now = np.union1d(known, targets) if len(known) else np.unique(targets)
        if len(now) == 1:
            self._wait(rows, targets, weight)
            return targets
        if not fitted:
            self._begin(now)
        elif len(now) > len(known):
            self._take_up(now)
        return super()._partial_fit(rows, targets, vars(self).get("classes_", now), weight)

    def _wait(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Keep the last samples of a stream as long as they are of one class."""
        X, _ = self._samples(X, y, FLOATS, "_waiting" not in self.__dict__)
        weight = np.ones(len(y)) if sample_weight is None else check_weights(sample_weight, X)
        if "_waiting" in self.__dict__:
            before, labels, weights = self.__dict__["_waiting"]
            X, y = one_after_another([before, X]), np.concatenate([labels, y])
            weight = np.concatenate([weights, weight])
        last = slice(max(0, len(y) - MOST_WAITING), None)
        self.__dict__["_waiting"] = rows_at(X, last), y[last], weight[last]

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "_waiting" in vars(self):
            check_waiting(vars(self)["_waiting"])

    def _new_model(self, X: Any, draws: np.random.RandomState) -> Any:
        # `fit` forgets the samples that waited for a second class.
        self.__dict__.pop("_waiting", None)
        return super()._new_model(X, draws)

    def _begin(self, labels: Any) -> None:
        """Learn the samples that waited for a second class."""
        waiting = self.__dict__.pop("_waiting", None)
        if waiting is not None:
            X, y, weight = waiting
            names = vars(self).get("feature_names_in_")
            # These rows are encoded already.
            X = Encoded(X) if "encoder_" in self.__dict__ else X
            super()._partial_fit(X, y, labels, weight)
            if names is not None:  # The waiting samples have lost their names.
                self.feature_names_in_ = names
            self._model.resume_counts(self._model.n_seen, 0, 0.0)

    def _grown_model(self, before: Array, labels: Array, head: Any) -> Any:
        """Return the race with more classes; its experts keep what they have learnt.

        If they would take more memory than `memory_budget`, a race of smaller experts begins and
        learns the rows that a forest keeps, as long as these are most of all rows. Otherwise
        experts leave.
        """
        race: Any = self._model
        ladder, form = self._ladder(race), form_of(race, head.n_outputs)
        room = self._budgets()[1]
        stay = [*range(len(ladder))]
        if megabytes(ladder, form) > room:
            weights = race.vote.weights(np.ones(len(ladder), dtype=np.uint8))
            best = [ladder[k] for k in np.argsort(-weights, kind="stable").tolist()]
            in_need = megabytes(best[:1], form) > room
            if (again := self._begun_again(race, before, labels, head, in_need)) is not None:
                return again
            left = that_fit(best, form, room * MEGABYTE)
            self._warn_of_room(left, form)
            stay = [k for k, expert in enumerate(ladder) if expert in left]
            self._note_remaining(ladder, stay, len(labels))
        return grown_race(race, ladder, stay, before, labels, head)

    def _note_remaining(self, ladder: list[Expert], stay: list[int], n_classes: int) -> None:
        """Note the indices of the experts that remain, and warn of those that leave."""
        names = [expert.name for k, expert in enumerate(ladder) if k not in stay]
        if names:
            were = self._stayed or range(len(ladder))
            self._stayed = tuple(were[k] for k in stay)
            warn(
                f"memory_budget={self._budgets()[1]:g} has no room for all experts with "
                f"{n_classes} classes: {', '.join(names)} left the race. Raise memory_budget, or "
                "let the first call know all classes (partial_fit by `classes`, the command line "
                "by the first rows)",
                UserWarning,
            )

    def _begun_again(
        self, race: Any, before: Array, labels: Array, head: Any, in_need: bool
    ) -> Any:
        """Return a new race with room for twice the classes, or None.

        It has learnt the rows that are kept. Unless `in_need`, these must be most of all rows.
        """
        kept = kept_rows(race, 0 if in_need else KEPT * race.n_seen)
        if kept is None:
            return None
        rows, y, weight = kept
        first = self._outputs_at_first, self._stayed
        try:
            # Draws depend on the number of classes: they are not those of the first race.
            draws = draws_after(race, len(labels))
            # Widths do not depend on the categories of the coming rows of this call.
            n_empty = self._empty_at_first
            new = self._new_race(rows[:1], draws, head, 2 * head.n_outputs, n_empty)
            numbers = np.searchsorted(labels, before).astype(np.float64)
            new.learn(rows, numbers[y.astype(np.intp).ravel()], weight)
        except BaseException:
            self._outputs_at_first, self._stayed = first
            raise
        new.resume_counts(race.n_seen, race.n_mistakes, race.cumulative_loss)
        # Alarms while rows were learnt again do not count: nothing was predicted then.
        new.resume_alarms(alarms_of(race))
        return new


@estimator
class StreamRegressor(StreamLearner, OnlineRegressor):
    """Regression of raw streams, with nothing to choose.

    Like `StreamClassifier`, for targets in any units. The experts are two kernel forests, one of
    which grows from the last 512 samples; kernel least squares in a metric that is learnt along the
    stream; others with forgetting; linear AROW; gradient descent on Fourier features and on linear
    ones; and from 32 features on linear least squares. On sparse rows of more than 100 features,
    linear PA-I replaces linear gradient descent.

    The prediction is the weighted mean of those of the experts. The weight of an expert is
    ``exp(-60 (sqrt(e / min e) - 1))`` [1]_ [2]_, where e is the discounted mean (0.999, at first
    less) of its squared errors. The linear combination of the experts with the least squared error
    votes as one more [3]_.

    With up to 128 features, the expert with a metric and the larger forest learn the target y and a
    transformed one, its twin ``asinh(y / s)``. This is a signed logarithm, in which effects that
    multiply become additive. s is half of the median size of the first 256 targets that are not 0.
    The metric is learnt from the twin, and the mean of both says where trees split.

    Parameters
    ----------
    time_budget : float > 0, default=100.0
        Microseconds that a sample may cost, most of the time, on one core of 2024 with AVX2. It
        decides how large the experts are and how many of them vote. It is nominal: no time is
        measured, so that results are the same on every machine. The first 1,024 samples cost about
        twice as much, because all experts learn them. So do the 1,000 samples after an alarm,
        because two races learn them. The default gives the forests 80 and 30 trees (in regression
        55 to 132, more with fewer features, and 15), and the largest kernel 300 landmarks (in
        regression 200 to 300).
    memory_budget : float > 0, default=64.0
        Megabytes that the models of the experts may take, as estimated at the first call. Buffers
        and copies to undo a call are not counted; they take up to 20. Nor is the teacher of a
        forest while it is renewed: with hundreds of features it may take as much as the models, and
        `report()` estimates it (`most_memory`). For 1,000 samples after an alarm, a second race
        takes as much as the first (docs/race.md).
    encode : {'auto', True, False}, default='auto'
        Whether the model encodes the columns of tables itself, with an encoder `encoder_`
        (docs/tables.md). 'auto' does if the first samples are a data frame or an Arrow table with
        text, categories, dates or missing values, or dictionaries; numbers stay as they are. True
        also encodes arrays. False never encodes.
    n_epochs : int >= 1, default=1
        Passes of `fit` over the data. `partial_fit` always makes one.

        The shares of the vote come from the first pass only: on samples that they have learnt,
        experts that memorise are ahead.
    shuffle : bool, default=True
        Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order and of the experts' draws.
    window : int >= 1 or None, default=None
        Samples whose kernel values are computed together; None lets each expert choose. It
        changes the speed, never a result.
    n_jobs : int or None, default=None
        Threads for learning the experts and for predicting rows; None means 1 unless in a
        ``joblib.parallel_backend`` context. It never changes a result.
    verbose : int, default=0
        If not 0, `fit` shows its progress: as a bar on a terminal and in a notebook, and as some
        lines in a log, on standard error. Results do not change.

    Attributes
    ----------
    alarms_ : ndarray of shape (n_alarms,), int64
        Numbers of the samples, counted from 1, after which a new race began beside the old one.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the mean square of the gradient of the function that a kernel
        forest has learnt, in units of the spread of the features. It is that of the forest with the
        larger weight in the vote. In tables, a column of categories is one feature.
    importance_names_ : ndarray of str, or None
        Names of these features, if the samples had names of columns.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    cumulative_loss_ : float
        Sum of weight times loss of the race's predictions, each made before its sample was learnt.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    A prediction that is further outside of the targets seen so far than a quarter of their range is
    drawn to that bound. `cumulative_loss_` sums squared errors.

    The same samples give the same model, however they are divided into calls. Time and memory per
    sample do not grow with the stream. All experts but the forests get features in float32 that are
    clipped to five standard deviations (in regression, on dense samples, to 20). d in the widths of
    kernels is the number of features. The prediction made before a sample is learnt is scaled by
    moments that include it; `predict` scales by those of the samples learnt.

    A `sample_weight` acts in each expert as in the expert's own class. In the vote it counts as
    that many samples.

    References
    ----------
    .. [1] N. Littlestone, M. K. Warmuth (1994). The weighted majority algorithm. Information and
       Computation 108, 212-261.
    .. [2] N. Cesa-Bianchi, G. Lugosi (2006). Prediction, learning, and games. Cambridge University
       Press.
    .. [3] J. M. Bates, C. W. J. Granger (1969). The combination of forecasts. Operational Research
       Quarterly 20, 451-468.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern import StreamRegressor
    >>> X = np.random.default_rng(0).uniform(0, 1e-3, (2000, 2))
    >>> y = 1e6 + 1e4 * np.sin(6e3 * X[:, 0]) + 1e7 * X[:, 1]
    >>> model = StreamRegressor()
    >>> predicted = model.partial_fit_predict(X, y)
    >>> bool(np.std(predicted[500:] - y[500:]) < 0.1 * np.std(y))
    True
    """

    # The experts standardise it.
    standardize_target: ClassVar[bool] = False  # type: ignore[misc]

    _absent = {}
    _task = "regression"
    _votes = MeanVote
