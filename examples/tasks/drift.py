"""A stream that changes: notice it, and go on
============================================

You get a learner that follows a change, and an alarm that says when it came and is seldom wrong.
We compare three ways: a model that was trained once, one that goes on learning, and one that
begins anew after an alarm.

The stream is made: after 4,000 and 8,000 samples another rule decides.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinekern import KernelPAClassifier
from onlinekern.drift import LossDetector, RenewedLearner
from onlinekern.evaluate import prequential
from onlinekern.streams import ConceptDrift, Sine

SAMPLES, CHANGES, WINDOW = 12_000, [4000, 8000], 500
rules = [Sine(concept=k, random_state=k) for k in (0, 3, 2)]
X, y = ConceptDrift(rules, position=CHANGES, width=0, random_state=0).take(SAMPLES)
blocks = [(X[k : k + 500], y[k : k + 500]) for k in range(0, SAMPLES, 500)]
classes = np.unique(y)

# %%
# Three ways
# ----------
# The first learns 2,000 samples and stops. The second keeps at most 300 support vectors, and
# drops the oldest one for a new one. The third begins anew, with the last samples, when
# ``LossDetector`` says that mistakes have become more frequent.

once = KernelPAClassifier(gamma=5.0, random_state=0).fit(X[:2000], y[:2000])
wrong = once.predict(X) != y
frozen = [100 * np.mean(wrong[k - WINDOW : k]) for k in range(WINDOW, SAMPLES + 1, WINDOW)]

goes_on = KernelPAClassifier(gamma=5.0, max_support=300, when_full="oldest", random_state=0)
followed = prequential(goes_on, blocks, classes, window=WINDOW)

renewed = RenewedLearner(KernelPAClassifier(gamma=5.0, random_state=0))
anew = prequential(renewed, blocks, classes, window=WINDOW)

# %%
# What happened
# -------------
# An alarm comes some ten samples after each change.

print(f"trained once    {np.mean(wrong[2000:]):.1%} mistakes after training")
print(f"goes on         {followed.error:.1%} mistakes")
print(f"begins anew     {anew.error:.1%} mistakes")
print(f"changes after {CHANGES}, alarms at {renewed.alarms_.tolist()}")

figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
points = np.arange(WINDOW, SAMPLES + 1, WINDOW)
axes.plot(points, frozen, color="#767676", linestyle="--", label="trained once")
axes.plot(points, 100 * followed.curves["window_error"], label="goes on, 300 support vectors")
axes.plot(points, 100 * anew.curves["window_error"], label="begins anew after an alarm")
for k, alarm in enumerate(renewed.alarms_):
    axes.axvline(alarm, color="#D55E00", linestyle=":", label="alarm" if k == 0 else None)
axes.set(xlabel="samples seen", ylabel=f"mistakes among the last {WINDOW} (%)", ylim=(0, None))
axes.legend(fontsize="small")
plt.show()

# %%
# The alarm alone, for a learner of your own: feed it the mistakes.

detector = LossDetector(run_length=100_000)
detector.update_many(wrong.astype(float))
print(f"of the model that was trained once: alarms at {detector.alarms_.tolist()[:3]}")
