"""Regression with dates: bikes hired in the next hour
====================================================

You get a regression on a column of dates and a column of text, with intervals that hold nine of
ten targets, also while demand grows. Dates become the time of day, of the week and of the year by
themselves.

The hours are made: commuters on workdays, leisure at weekends, weather, and a growth of 70 % in a
year.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from onlinekern import ConformalRegressor, StreamRegressor
from onlinekern.plotting import ImportanceDisplay

HOURS = 7000


def bikes(hours, seed=0):
    """Return a data frame of hours, and how many bikes were hired in each."""
    rng = np.random.default_rng(seed)
    at = pd.date_range("2025-03-01", periods=hours, freq="h")
    hour, off = at.hour.to_numpy(), at.day_of_week.to_numpy() >= 5
    rain = np.repeat(rng.random(hours // 6 + 1) < 0.25, 6)[:hours]
    warm = 12 - 10 * np.cos(2 * np.pi * (at.day_of_year.to_numpy() - 20) / 365)
    warm = warm + np.repeat(rng.normal(0, 3, hours // 24 + 1), 24)[:hours]
    commuters = np.exp(-((hour - 8) ** 2) / 2) + np.exp(-((hour - 17) ** 2) / 4)
    leisure = np.exp(-((hour - 14) ** 2) / 18)
    demand = np.where(off, leisure, commuters + 0.2 * leisure) + 0.03
    comfort = np.exp(-(((warm - 24) / 16) ** 2)) * np.where(rain, 0.35, 1.0)
    hired = rng.poisson(400 * (1 + 0.7 * np.arange(hours) / 8766) * demand * comfort)
    table = pd.DataFrame({"at": at, "weather": np.where(rain, "rain", "dry"), "degrees": warm})
    return table, hired.astype(float)


table, hired = bikes(HOURS)
print(table.head(3).to_string())

# %%
# Learn hour by hour
# ------------------
# ``ConformalRegressor`` puts intervals around any learner. ``partial_fit_interval`` predicts each
# hour before it learns it.

model = ConformalRegressor(StreamRegressor(random_state=0), coverage=0.9)
parts = [model.partial_fit_interval(table[start : start + 24], hired[start : start + 24])
         for start in range(0, HOURS, 24)]  # fmt: skip
low, high = np.hstack(parts)

# %%
# How good it is
# --------------
# Without a model you would say: as many as in the same hour of last week.

later = slice(24 * 14, HOURS)  # two weeks to begin with
middle = (low[later] + high[later]) / 2
last_week = hired[24 * 7 : HOURS - 24 * 7]


def error(guess):
    """Return the root mean square error of a guess."""
    return np.sqrt(np.mean((guess - hired[later]) ** 2))


inside = np.mean((low <= hired)[later] & (hired <= high)[later])
print(f"StreamRegressor          {error(middle):.1f} bikes")
print(f"the same hour, last week {error(last_week):.1f} bikes")
print(f"intervals hold {inside:.1%} of the hours, promised 90%")

# %%
# The last week, and what the model looks at: the hour before all, then rain, weekends and warmth.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
week = slice(HOURS - 168, HOURS)
left.fill_between(table["at"][week], low[week], high[week], alpha=0.3, label="interval")
left.plot(table["at"][week], hired[week], color="#D55E00", linewidth=1.0, label="hired")
left.set(ylabel="bikes in an hour", ylim=(0, None))
left.tick_params(axis="x", rotation=30)
left.legend()
ImportanceDisplay.from_estimator(model.estimator_, n=8, ax=right)
plt.show()
