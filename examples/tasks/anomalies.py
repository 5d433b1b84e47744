"""Anomalies without labels: pictures that do not belong
======================================================

You get a detector that learns from unlabelled rows as they come, in fixed memory, and scores each
one before it learns it. Nobody tells it which rows are odd, and the odd ones are in its training
data.

The rows are real: scikit-learn's handwritten digits, of 8 x 8 pixels. The stream shows zeros; one
picture in twenty is another digit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from onlinekern import KernelMeanDetector

images, digits = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
zeros = np.flatnonzero(digits == 0)
odd = rng.choice(np.flatnonzero(digits != 0), len(zeros) // 20, replace=False)
order = rng.permutation(np.concatenate([zeros, odd]))
X, is_odd = images[order], digits[order] != 0

# %%
# Score, then learn
# -----------------
# ``contamination`` is the share of rows that shall be called odd.

BEGIN = 20  # so few rows tell nothing yet
detector = KernelMeanDetector(contamination=0.05, random_state=0)
detector.partial_fit(X[:BEGIN])
scores, answers = [], []
for row in X[BEGIN:]:
    scores.append(detector.score_samples(row[None])[0])
    answers.append(detector.partial_fit_predict(row[None])[0])  # -1 is odd
scores, answers, truth = np.array(scores), np.array(answers), is_odd[BEGIN:]

# %%
# How good it is
# --------------

called = answers == -1
print(f"area under the ROC curve: {roc_auc_score(truth, -scores):.3f}")
print(f"{np.sum(called)} called odd, {np.sum(called & truth)} of the {np.sum(truth)} that are")

# %%
# The scores along the stream, and the ten pictures with the lowest ones.

figure = plt.figure(figsize=(9, 5), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=[3, 1])
axes = above.subplots()
for odd_one, colour, label in ((False, "#0072B2", "zero"), (True, "#D55E00", "another digit")):
    places = np.flatnonzero(truth == odd_one)
    axes.scatter(places, scores[places], s=14, color=colour, label=label)
axes.set(xlabel="pictures seen", ylabel="score")
axes.legend(fontsize="small")
for axis, place in zip(below.subplots(1, 10), np.argsort(scores)[:10], strict=True):
    axis.imshow(X[BEGIN + place].reshape(8, 8), cmap="gray_r")
    axis.axis("off")
below.suptitle("the lowest scores", fontsize="small")
plt.show()
