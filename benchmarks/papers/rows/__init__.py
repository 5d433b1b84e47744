"""The papers' tables and figures, by the names that the command knows."""

from . import dual_sgd, dual_sgd_regression, lol, lol_figures, olla, sdrogd, spa, spa_test

TABLES = {
    "A": spa.ROWS, "A3": spa_test.ROWS, "B": dual_sgd.ROWS, "B2": dual_sgd_regression.ROWS,
    "C": lol.ROWS, "C4": lol_figures.CURVES, "C5": lol_figures.PROTOTYPES,
    "C6": lol_figures.LAMBDA, "C7": lol_figures.K_MEANS, "D": sdrogd.ROWS, "D2": sdrogd.SKETCHES,
    "E": olla.ROWS, "E2": olla.MULTI_LOGIT_ROWS, "E6": olla.GRID_OF_FIGURES,
}  # fmt: skip
