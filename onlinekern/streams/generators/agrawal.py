"""Agrawal's loan applicants: nine features, and ten rules for granting the loan."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from onlinekern.streams.generators.drifting import Row, RuleStream, check_share


class Applicant(NamedTuple):
    """The features of a sample, in the order of the columns."""

    salary: float
    commission: float
    age: int
    level: int
    car: int
    zipcode: int
    house: float
    years: int
    loan: float


@dataclass(frozen=True, kw_only=True)
class Agrawal(RuleStream):
    """Applicants for a loan; one of ten rules decides who gets it.

    Parameters
    ----------
    concept : int from 0 to 9, default=0
        The rule: functions 1 to 10 of [1]_.
    balanced : bool, default=False
        Classes 1 and 0 by turns, from rejected draws.
    perturbation : float in [0, 1], default=0.0
        A numeric feature is moved by at most this share of its range, after the label was decided.
    random_state : int >= 0 or None, default=None

    References
    ----------
    .. [1] R. Agrawal, T. Imieliński, A. Swami (1993). Database mining: a performance perspective.
       IEEE Transactions on Knowledge and Data Engineering 5, 914-925.

    Examples
    --------
    >>> from onlinekern.streams import Agrawal
    >>> X, y = Agrawal(concept=0, random_state=42).take(2)
    >>> X[0, :6].round(1).tolist(), y.tolist()
    ([103125.5, 0.0, 21.0, 2.0, 8.0, 3.0], [1, 1])
    """

    n_concepts = 10
    perturbation: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("perturbation", self.perturbation)

    @property
    def n_features(self) -> int:
        return 9

    def _candidates(self, rng: random.Random) -> Iterator[Row]:
        rule = RULES[self.concept]
        while True:
            salary = 20000 + 130000 * rng.random()
            commission = 0.0 if salary >= 75000 else 10000 + 75000 * rng.random()
            age, level = rng.randint(20, 80), rng.randint(0, 4)
            car, zipcode = rng.randint(1, 20), rng.randint(0, 8)
            house = (8 - zipcode) * 100000 * (0.5 + rng.random())
            years, loan = rng.randint(1, 30), rng.random() * 500000
            applicant = Applicant(salary, commission, age, level, car, zipcode, house, years, loan)
            yield applicant, rule(applicant)

    def _finished(self, row: Row, rng: random.Random) -> Row:
        if not self.perturbation:
            return *row[0], row[1]
        return *self._perturbed(row[0], rng), row[1]

    def _perturbed(self, a: Applicant, rng: random.Random) -> Applicant:
        def moved(value: float, low: float, high: float, reach: float) -> float:
            value += reach * (2 * (rng.random() - 0.5)) * self.perturbation
            return low if value < low else high if value > high else value

        return Applicant(
            moved(a.salary, 20000, 150000, 130000),
            moved(a.commission, 10000, 75000, 65000) if a.commission > 0 else a.commission,
            round(moved(a.age, 20, 80, 60)),
            a.level,
            a.car,
            a.zipcode,
            # These bounds, which are those of river, make the value one of the two.
            moved(a.house, (9 - a.zipcode) * 100000, 0, 135000),
            round(moved(a.years, 1, 30, 29)),
            moved(a.loan, 0, 500000, 500000),
        )


Range: TypeAlias = tuple[float, float]


def by_age(a: Applicant, value: float, young: Range, middle: Range, old: Range) -> bool:
    """Return whether a value lies in the range of an age: below 40, below 60, above."""
    low, high = young if a.age < 40 else middle if a.age < 60 else old
    return low <= value <= high


def income_by_age(a: Applicant, income: float) -> bool:
    """Decide by rules 1 and 5."""
    return by_age(a, income, (50000, 100000), (75000, 125000), (25000, 75000))


def level_by_age(a: Applicant) -> bool:
    """Decide by rule 2, which is the condition of rule 3 too."""
    return by_age(a, a.level, (0, 1), (1, 3), (2, 4))


def salary_by_level(a: Applicant) -> bool:
    """Decide by rule 3."""
    if level_by_age(a):
        return by_age(a, a.salary, (25000, 75000), (50000, 100000), (50000, 100000))
    return by_age(a, a.salary, (50000, 100000), (75000, 125000), (25000, 75000))


def loan_by_salary(a: Applicant) -> bool:
    """Decide by rule 4, as river does: some conditions are on the salary, not on the loan."""
    if a.age < 40:
        if 50000 <= a.salary <= 100000:
            return 100000 <= a.loan <= 300000
        return 200000 <= a.salary <= 400000
    if a.age < 60:
        if 75000 <= a.salary <= 125000:
            return a.salary >= 200000 and a.loan <= 400000
        return 300000 <= a.salary <= 500000
    if 25000 <= a.salary <= 75000:
        return 300000 <= a.loan <= 500000
    return 75000 <= a.loan <= 300000


def disposable(a: Applicant, level: float, loan: float, equity: float, least: float) -> bool:
    """Decide by rules 6 to 9: whether the disposable income, with these weights, is not > 1."""
    owned = a.house * (a.years - 20) / 10 if a.years >= 20 else 0.0
    income = 2 * (a.salary + a.commission) / 3
    return income - level * a.level - loan * a.loan / 5 + equity * owned / 5 - least <= 1


RULES: tuple[Callable[[Applicant], bool], ...] = (
    lambda a: a.age < 40 or a.age >= 60,
    lambda a: income_by_age(a, a.salary),
    level_by_age,
    salary_by_level,
    loan_by_salary,
    lambda a: income_by_age(a, a.salary + a.commission),
    lambda a: disposable(a, 0, 1, 0, 20000),
    lambda a: disposable(a, 5000, 0, 0, 20000),
    lambda a: disposable(a, 5000, 1, 0, 10000),
    lambda a: disposable(a, 5000, 0, 1, 10000),
)
