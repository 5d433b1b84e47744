"""The papers' tables."""

from . import dual_sgd, lol, sdrogd, spa

TABLES = {"A": spa.ROWS, "B": dual_sgd.ROWS, "C": lol.ROWS, "D": sdrogd.ROWS}
