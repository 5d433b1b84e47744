"""Several passes over the same samples: a race is not won by the experts that memorise."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split

from onlinekern import StreamClassifier, StreamRegressor
from onlinekern.core.learning.vote import MeanVote, Vote


@pytest.mark.parametrize("kind", [Vote, MeanVote])
def test_a_vote_that_does_not_earn_answers_and_counts(kind):
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(3, 50, 1)), rng.integers(0, 2, 50).astype(float)
    yes, out, again = np.ones(3, np.uint8), np.empty((50, 1)), np.empty((50, 1))
    vote = kind((0.0, 1.0, 2.0), 1)
    vote.learn(scores, y, None, yes, yes, out)
    before, total = vote.mean_losses(), vote.get_state()["total"]
    vote.combine(scores, yes, out)
    vote.learn(scores, y, None, yes, yes, again, False)
    np.testing.assert_array_equal(again, out)
    np.testing.assert_array_equal(vote.mean_losses(), before)
    assert vote.get_state()["total"] > total


@pytest.mark.parametrize(
    ("learner", "load", "less"),
    [(StreamRegressor, load_diabetes, 0.04), (StreamClassifier, load_breast_cancer, 0.015)],
)
def test_ten_passes_are_no_worse_than_one(learner, load, less):
    X, y = load(return_X_y=True)
    scores = {1: [], 10: []}
    for seed in range(3):
        rows, held, targets, wanted = train_test_split(X, y, test_size=0.4, random_state=seed)
        votes = []
        for passes, found in scores.items():
            model = learner(n_epochs=passes, random_state=seed).fit(rows, targets)
            found.append(model.score(held, wanted))
            votes.append(model._model.vote.mean_losses())
        # Shares come from first sights only.
        np.testing.assert_array_equal(*votes)
        assert model.n_seen_ == 10 * len(rows)
    assert np.mean(scores[10]) > np.mean(scores[1]) - less
