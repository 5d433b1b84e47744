"""The papers' tables."""

from . import dual_sgd, lol, olla, sdrogd, spa, spa_test

TABLES = {
    "A": spa.ROWS, "A3": spa_test.ROWS, "B": dual_sgd.ROWS, "C": lol.ROWS, "D": sdrogd.ROWS,
    "E": olla.ROWS,
}  # fmt: skip
