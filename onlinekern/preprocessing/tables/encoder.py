"""The encoder of tables: columns of numbers, categories, dates and text become rows of numbers."""

import copy
from numbers import Integral
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from onlinekern.estimators.atomic import fit_method, lock_of, twin_of
from onlinekern.estimators.encoded_tables import SLOTS
from onlinekern.estimators.parameters import estimator, warn_of_waiting
from onlinekern.estimators.savable import Savable, require
from onlinekern.estimators.scikit_learn import BaseEstimator, Interval, StrOptions, in_container
from onlinekern.estimators.types import Array
from onlinekern.estimators.validation import one_row
from onlinekern.estimators.warnings import warn
from onlinekern.preprocessing.scaler import OnlineStandardScaler
from onlinekern.preprocessing.tables.errors import MAKES, TableError, difference, listed

KINDS = ("number", "boolean", "category", "hashed", "date", "text", "ignore")
# Largest index of a CSR matrix.
MOST_FEATURES = 2**31 - 1
MostCategories: TypeAlias = Annotated[int, Interval(Integral, 1, MOST_FEATURES, closed="both")]
Width: TypeAlias = Annotated[int, Interval(Integral, 2, MOST_FEATURES, closed="both")]
# A table without text becomes sparse from this many features on, if rows store few of them.
MANY_FEATURES = 256
DENSE_SHARE = 0.25


@estimator
class TableEncoder(Savable, TransformerMixin, BaseEstimator):
    """Turn the columns of a table into features along a stream: the first step of a pipeline.

    It accepts pandas and polars data frames, other objects with Arrow's interface, lists of
    dictionaries, and arrays. Columns are matched by name, in any order. The first call decides the
    kind of each column and its number of features. Both stay fixed, because a kernel model has a
    fixed number of features.

    ========== ==================================== ==============================================
    kind       values                               features
    ========== ==================================== ==============================================
    number     integers, floats, decimals,          the number; where missing, the mean of those
               durations (seconds)                  before, and a second feature says so if values
                                                    are missing in the first call
    boolean    true, false                          1, 0; missing as for numbers
    category   text, dictionary types               one-hot: each takes the next free feature when
                                                    it comes; missing is a category too
    hashed     text of more than 100 values         one of `hashed_features` is 1
    date       dates, times, text as in ISO 8601    what `dates` says; 0 where missing
    text       text of four words or more, of       hashed counts of words and pairs of words, of
               which few come twice                 length 1
    ignore     columns without a value in the       none, for good; `kinds` takes them up
               first call, or with texts of which
               nearly all are different
    ========== ==================================== ==============================================

    Parameters
    ----------
    kinds : dict of str to str or None, default=None
        Kinds of columns by name, if the guess is wrong: for example, a postcode is a category.
    missing : {'mean', 'keep', 'refuse'}, default='mean'
        How missing values are encoded. 'mean': as in the table above. 'keep': NaN, for learners
        that accept it, such as kernel forests. 'refuse': an error that names row and column.
    categories : {'one-hot', 'codes', 'hash', 'auto'}, default='one-hot'
        What categories become, of few values or of many: as above, or each column one feature, the
        numbers of its categories in the order in which they come ('codes'). 65535 is the number of
        those that have not been learnt, NaN where one is missing. For kernel forests
        (`categorical_features`).

        'hash' is for values without a bound, and linear learners: categories and words of all
        columns share `slots` features, of which a hash of column and value says one. None has to
        come first, none is left out, and nothing grows. 'auto' is 'hash' if a third of the columns
        are text, or have more than a thousand values, by an estimate of those in the first call;
        else 'one-hot'.
    max_categories : int or None, default=None
        Number of one-hot features of a category column. Later categories share one more feature.
        None: twice the number of categories in the first call plus 8, at most 100.
    hashed_features : int or None, default=None
        Number of features of a hashed column. None: 1,024 with ``categories='auto'``, which linear
        learners and races choose, else 64: of a hundred categories, each shares its feature with
        one or two others.
    text_features : int, default=1024
        Number of features of a text column.
    slots : int, default=1048576
        Number of features that categories and words share (``categories='hash'``).
    dates : tuple of str or None, default=None
        Features of a date column: 'day', 'week' and 'year' are sine and cosine of the place on that
        circle, 'half day', 'half week' and 'half year' of one that is gone round twice as often;
        numbers are 'hour', 'weekday' (0 on Mondays), 'weekend' (1 or 0), 'day of the month',
        'day of the year' (one number for one date in all years: holidays that have a date), and
        'time', the days since 1970: the time that has gone by. None: ('day', 'week',
        'year', 'weekday', 'weekend'). Parts of the day are left out if no time of day is among the
        first rows.
    time_zone : str or None, default=None
        Time zone, 'Europe/Berlin' for one, whose clocks tell the date of a moment. None: that of
        the column's type, else UTC. A time without a zone is what a clock shows, and stays.
    when : str, tuple of str or None, default=None
        Columns that tell when a row came, or its label: the time of the stream, by which
        `onlinekern.evaluate.delays_of` delays labels. They are no features, whatever they hold,
        unless `kinds` asks for them: ``when="at", kinds={"at": "date"}``.
    sparse : bool or None, default=None
        Whether the features are a CSR matrix. They cannot be centred later: numbers and dates are
        then standardised here, by `OnlineStandardScaler`, unless ``missing='keep'`` or
        ``categories='codes'``. None: if there is a text column, or there are more than 256 features
        of which a row has less than a quarter, or categories share slots.

    Attributes
    ----------
    kinds_ : dict of str to str
        Kinds of the columns by name.
    n_features_in_ : int
        Number of columns of a table.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, unless the first rows were an array.
    n_features_out_ : int
        Number of columns that `transform` returns.
    n_empty_ : int
        Number of features reserved for new categories, which are 0 until these come.
    n_slots_ : int
        Features that categories and words share; 0 if they have features of their own.
    coded_ : tuple of int
        Numbers of the features that are numbers of categories (``categories='codes'``).
    layout_ : tuple of (int, int)
        What the forests of a race see of the features: (j, 1) is feature j, (j, 0) is NaN where
        feature j + 1 is 1, (j, m) the number of the category in m one-hot features. () is all of
        them as they are.
    sparse_ : bool
        Whether the features are a CSR matrix.

    Notes
    -----
    `learn_transform` encodes each row by what has been learnt from it and the rows before it. After
    the first call, the result does not depend on the batches, bit for bit. Categories are compared
    as text: 1 and "1" are the same. Sample weights are ignored: a category of weight 0 is a
    category too. The encoder needs pyarrow (``pip install 'onlinekern[tables]'``).

    Examples
    --------
    >>> from onlinekern import StreamClassifier, TableEncoder, make_stream_pipeline
    >>> rows = [
    ...     {"town": "Ulm", "at": "2026-03-01", "size": 3.5},
    ...     {"town": "Bonn", "at": "2026-03-02", "size": None},
    ... ] * 50
    >>> sold = ["yes", "no"] * 50
    >>> encoder = TableEncoder()
    >>> encoder.fit_transform(rows).shape
    (100, 21)
    >>> encoder.kinds_
    {'town': 'category', 'at': 'date', 'size': 'number'}
    >>> model = make_stream_pipeline(TableEncoder(), StreamClassifier())
    >>> str(model.partial_fit(rows, sold).predict([{"town": "Ulm", "at": None, "size": 3.0}])[0])
    'yes'
    """

    kinds: dict[str, str] | None = None
    missing: Annotated[str, StrOptions({"mean", "keep", "refuse"})] = "mean"
    categories: Annotated[str, StrOptions({"one-hot", "codes", "hash", "auto"})] = "one-hot"
    max_categories: MostCategories | None = None
    hashed_features: Width | None = None
    text_features: Width = 1024
    slots: Width = SLOTS
    dates: tuple[str, ...] | list[str] | None = None
    time_zone: str | None = None
    when: str | tuple[str, ...] | list[str] | None = None
    sparse: bool | None = None

    _learnt_as = "_columns"

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the columns of X from scratch.

        Parameters
        ----------
        X : data frame, pyarrow Table, list of dict, or array of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a value or a column is invalid; the message names it.
        ImportError
            If pyarrow is missing.
        """
        self._learn(X, start=True)
        return self

    @fit_method
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn the rows of X, in their order.

        Parameters
        ----------
        X, y
            As in `fit`.

        Returns
        -------
        self : object
        """
        self._learn(X)
        return self

    @fit_method
    @in_container
    def learn_transform(self, X: Any, y: Any = None) -> Array:
        """Learn each row of X, then encode it by what has been learnt from it and earlier rows.

        Parameters
        ----------
        X, y
            As in `fit`.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, number of features), float64
        """
        return self._learn(X)

    def transform(self, X: Any) -> Array:
        """Encode rows by what has been learnt.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, number of features), float64

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If X has other columns than those learnt, or a value of another kind; the message names
            it.
        """
        check_is_fitted(self)
        now = self._now()
        table = now._matched(X)
        blocks = [now._about(column, table, column.features) for column in now._columns]
        return now._joined(blocks, learn=False)

    def learn_transform_one(self, x: Any, y: Any = None) -> Array:
        """Learn one row, then encode it: a faster `learn_transform` with the same bits.

        Parameters
        ----------
        x : dict, or what else is a row
            A dictionary of plain values, numbers, text, True, False, None and dates, is the
            quickest.
        y : ignored

        Returns
        -------
        ndarray of shape (n_features,), or CSR matrix of shape (1, n_features)

        Raises
        ------
        ValueError
            If a value or a column does not fit; the message names it.
        """
        if self.__sklearn_is_fitted__() and "_waiting_parameters" not in vars(self):
            with lock_of(self):
                found = self._row(x, learn=True)
            if found is not None:
                return only(found)
        return only(self.learn_transform(one_row(x)))

    def transform_one(self, x: Any) -> Array:
        """Encode one row by what has been learnt.

        Parameters
        ----------
        x : as in `learn_transform_one`

        Returns
        -------
        ndarray of shape (n_features,), or CSR matrix of shape (1, n_features)

        Raises
        ------
        NotFittedError
            If nothing has been learnt.
        ValueError
            If a value or a column does not fit; the message names it.
        """
        check_is_fitted(self)
        found = self._now()._row(x, learn=False)
        return only(self.transform(one_row(x)) if found is None else found)

    def _row(self, x: Any, learn: bool) -> Array | None:
        """Return the features of one dictionary, or None if it must be converted as a table."""
        from onlinekern.preprocessing.tables.single_rows import encoded_row

        return encoded_row(self, x, learn)

    @property
    def _begins_with(self) -> frozenset[str]:
        return frozenset(self._get_param_names())

    def _renew_parameters(self, before: dict[str, Any]) -> None:
        # The parameter `missing` may be changed to or from 'refuse' at any time.
        if "keep" not in (before.get("missing"), self.missing):
            before = {name: value for name, value in before.items() if name != "missing"}
        super()._renew_parameters(before)

    def _now(self) -> Self:
        """Return a copy that keeps the present state, whatever this encoder learns later."""
        return twin_of(self)

    def _take(self, columns: list[Any], scaler: Any = None) -> None:
        """Replace the columns and the scaler by those that have learnt rows."""
        if self.max_categories is None:
            warn_of_full_columns(vars(self)["_columns"], columns)
        self._columns: list[Any] = columns
        if scaler is not None:
            self._scaler = scaler

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the features: 'size', 'size (missing)', 'town=Ulm', ...

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        return np.array([n for c in self._known for n in c.feature_names()], dtype=object)

    @property
    def n_features_out_(self) -> int:
        """Number of features that a row becomes."""
        return sum(column.n_features for column in self._known)

    @property
    def n_empty_(self) -> int:
        """Number of features that wait for categories, and are 0 until these come."""
        return sum(column.n_empty for column in self._known)

    @property
    def n_slots_(self) -> int:
        """Number of features that categories and words share; 0 if they have some of their own."""
        return sum(column.n_features for column in self._known if column.shares)

    @property
    def coded_(self) -> tuple[int, ...]:
        """Numbers of the features that are numbers of categories."""
        ends = np.cumsum([column.n_features for column in self._known]).tolist()
        return tuple(
            end - 1 for end, column in zip(ends, self._columns, strict=True)
            if column.is_coded
        )  # fmt: skip

    @property
    def layout_(self) -> tuple[tuple[int, int], ...]:
        """How the forests of a race see the features (`core.samples.coded`).

        They get the number of a category instead of its one-hot features, and NaN for a missing
        number. It is () if they see the features as they are, because no feature would change or
        the table has text.
        """
        if any(column.kind == "text" or column.shares for column in self._known):
            return ()
        starts = np.cumsum([0, *(column.n_features for column in self._columns)]).tolist()
        found = tuple(
            (start + place, count)
            for start, column in zip(starts, self._columns, strict=False)
            for place, count in column.layout
        )
        return found if any(count != 1 for _, count in found) else ()

    def _names_in_layout(self) -> Array:
        """Return the names of the columns in the layout."""
        return np.array(
            [
                column.feature_names()[place] if count == 1 else column.name
                for column in self._columns
                for place, count in column.layout
            ],
            dtype=object,
        )

    @property
    def kinds_(self) -> dict[str, str]:
        """Kinds of the columns by name."""
        return {column.name: column.kind for column in self._known}

    @property
    def _known(self) -> list[Any]:
        """The columns; NotFittedError if there are none yet."""
        check_is_fitted(self)
        return self._columns

    def _learn(self, X: Any, start: bool = False) -> Array:
        start = start or not self.__sklearn_is_fitted__()
        warn_of_waiting(self, start)
        table = self._begun(X) if start else self._matched(X)
        learnt = [self._about(column, table, column.learnt_features) for column in self._columns]
        self._take([column for column, _ in learnt])
        if start:
            self._choose_form()
        return self._joined([block for _, block in learnt], learn=True)

    def _begun(self, X: Any) -> Any:
        """Choose the kinds of the columns of X, and return X as a table."""
        table, named = self._table_of(X)
        from onlinekern.preprocessing.tables.first_columns import first_columns

        self._check_kinds(table.column_names)
        kinds = dict.fromkeys(self._times(), "ignore") | (self.kinds or {})
        self._columns = first_columns(table, kinds, self)
        self.n_features_in_ = table.num_columns
        self.__dict__.pop("feature_names_in_", None)
        if named:
            self.feature_names_in_ = np.array(table.column_names, dtype=object)
        return table

    def _check_kinds(self, names: list[str]) -> None:
        quoted = listed(list(map(repr, names)))
        for name, kind in (self.kinds or {}).items():
            if kind not in KINDS:
                raise ValueError(f"kinds: {name!r} must be one of {', '.join(KINDS)}, got {kind!r}")
            if name not in names:
                raise ValueError(f"kinds: there is no column {name!r}; there are {quoted}")
        for name in self._times():
            if name not in names:
                raise ValueError(f"when: there is no column {name!r}; there are {quoted}")

    def _times(self) -> tuple[str, ...]:
        """Return the names of the columns that hold the time of the stream."""
        if self.when is None or isinstance(self.when, str):
            return () if self.when is None else (self.when,)
        return tuple(self.when)

    def _table_of(self, X: Any, names: list[str] | None = None) -> Any:
        try:
            from onlinekern.preprocessing.tables.frames import table_of
        except ModuleNotFoundError as error:
            raise ImportError(
                "TableEncoder needs pyarrow: pip install 'onlinekern[tables]'"
            ) from error
        return table_of(X, names)

    def _matched(self, X: Any) -> Any:
        """Return X as a table with the known columns."""
        known = [column.name for column in self._columns]
        table, named = self._table_of(X, known)
        found = table.column_names
        if not named and len(found) != len(known):
            raise ValueError(
                f"X has {len(found)} features, but TableEncoder is expecting {len(known)} features "
                "as input"
            )
        other = difference(list(map(repr, found)), list(map(repr, known)))
        if other:
            raise ValueError(f"X has other columns than those learnt: it {other}")
        return table

    def _about(self, column: Any, table: Any, method: Any) -> Any:
        """Return the result of a column's method for its values; an error names the column."""
        from onlinekern.preprocessing.tables.column_types import family
        from onlinekern.preprocessing.tables.frames import array_in

        values = array_in(table, column.name)
        found = family(values.type)
        if found == "missing":
            values = values.cast("string" if "text" in column.accepts else "float64")
        elif found not in column.accepts:
            what = f"holds {values.type}, but it is of the kind {column.kind!r}"
            raise TableError(column.name, what + MAKES.get(column.kind, ""))
        if self.missing == "refuse" and column.kind != "ignore":
            self._refuse_missing(column.name, values)
        return method(values)

    def _refuse_missing(self, name: str, values: Any) -> None:
        import pyarrow.compute as pc

        missing = pc.is_null(values, nan_is_null=True)
        if pc.any(missing).as_py():
            row = pc.index(missing, True).as_py()
            raise TableError(name, "is missing, and missing='refuse'", row)

    def _choose_form(self) -> None:
        """Decide whether the features are sparse."""
        kinds = [column.kind for column in self._columns]
        widths = [column.n_features for column in self._columns]
        if sum(widths) == 0:
            raise ValueError("no column of X becomes a feature: all are ignored")
        # A category stores one feature, and the other kinds store all.
        stored = sum(w if k not in ("category", "hashed") else 1
                     for w, k in zip(widths, kinds, strict=True))  # fmt: skip
        many = sum(widths) > MANY_FEATURES and stored < DENSE_SHARE * sum(widths)
        many = many or any(column.shares for column in self._columns)
        self.sparse_ = "text" in kinds or many if self.sparse is None else bool(self.sparse)
        self.__dict__.pop("_scaler", None)
        # Learners that accept NaN or numbers of categories accept any scale as well.
        scales = self.sparse_ and self.missing != "keep" and self.categories != "codes"
        if scales and any(not column.is_sparse for column in self._columns):
            self._scaler = OnlineStandardScaler(with_mean=True)

    def _joined(self, blocks: list[Any], learn: bool) -> Any:
        """Return the features of all columns side by side, in their order."""
        if any(column.shares for column in self._columns):
            from onlinekern.preprocessing.tables.slots import folded

            blocks = folded(self._columns, blocks)
        if not self.sparse_:
            dense = [block.toarray() if sp.issparse(block) else block for block in blocks]
            return np.hstack(dense)
        if "_scaler" in vars(self):
            blocks = self._scaled(blocks, learn)
        rows = [block if sp.issparse(block) else sp.csr_matrix(block) for block in blocks]
        return sp.csr_matrix(sp.hstack(rows, format="csr"))

    def _scaled(self, blocks: list[Any], learn: bool) -> list[Any]:
        """Return the blocks of features, with the dense ones standardised."""
        places = [k for k, block in enumerate(blocks) if not sp.issparse(block)]
        widths = [blocks[k].shape[1] for k in places]
        if sum(widths) == 0:
            return blocks
        rows = np.hstack([blocks[k] for k in places])
        if learn:  # replaced, not changed, so that a failed call can be undone
            self._scaler = copy.deepcopy(self._scaler)
            scaled = self._scaler.learn_transform(rows)
        else:
            scaled = self._scaler.transform(rows)
        blocks = list(blocks)
        for place, part in zip(places, np.split(scaled, np.cumsum(widths)[:-1], axis=1),
                               strict=True):  # fmt: skip
            blocks[place] = part
        return blocks

    def _check_loaded(self) -> None:
        from onlinekern.preprocessing.tables.columns import Column

        own = vars(self)
        if "_columns" not in own:
            return
        columns = own["_columns"]
        require(isinstance(columns, list) and len(columns) > 0, "its columns are none")
        for column in columns:
            sound = isinstance(column, Column) and column.is_sound()
            require(sound, "one of its columns is none")
        require(type(own.get("sparse_")) is bool, "its features have no form")
        require(own.get("n_features_in_") == len(columns), "the number of columns is not one")
        scaler = own.get("_scaler")
        require(type(scaler) in (type(None), OnlineStandardScaler), "its scaler is none")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "refuse"
        return tags


def only(rows: Any) -> Any:
    """Return the only row of features as a sample."""
    return rows if sp.issparse(rows) else np.asarray(rows)[0]


def warn_of_full_columns(before: list[Any], after: list[Any]) -> None:
    """Warn once about all columns of a call that have no room for more categories."""
    full = [
        new
        for old, new in zip(before, after, strict=True)
        if new is not old and old.n_empty > 0 and new.n_empty == 0
    ]
    if full:
        rest = listed([f"{new.name!r} ({new.room})" for new in full[1:]])
        also = f", and so do those of {rest}" if rest else ""
        warn(f"column {full[0].name!r} has room for no more than {full[0].room} categories, by "
             f"those in the first call: later ones share one feature{also}. max_categories=... "
             "says how many get one of their own, and categories='hash' gives one to each",
             UserWarning)  # fmt: skip


def encoder_of(model: Any) -> TableEncoder | None:
    """Return the encoder that is the first step of a pipeline or inside that step; else None.

    A step that learns with a model of its own (`ConformalClassifier`) has the encoder of this
    model.
    """
    first = model.steps[0][1] if hasattr(model, "steps") else model
    found = first if isinstance(first, TableEncoder) else getattr(first, "encoder_", None)
    if isinstance(found, TableEncoder):
        return found
    inside = getattr(first, "estimator_", getattr(first, "estimator", None))
    return None if inside is None else encoder_of(inside)
