"""Twins of the vote of experts, and of the race that decides who votes.

Losses are discounted: L <- d L + w l, N <- d N + w for a sample of weight w, d = 0.999. Of classes,
l is 1 for a mistake, e = (L + 1) / (N + 2), and an expert's share is exp(-c (sqrt(e) - sqrt(min
e))). Of targets, l is the squared error, e = L / N, and the share is exp(-c (sqrt(e / min e) - 1)).
"""

import numpy as np

SEGMENT, TRIAL, REST, ALARM = 256, 1024, 8, 512


class Vote:
    """The vote of experts; `links` has a slope for each, 0 for least squares."""

    def __init__(self, links, decay=0.999, sharpness=60.0):
        self.links, self.decay, self.sharpness = links, decay, sharpness
        # These are of each expert, of the vote, and of the vote lately.
        self.losses, self.counts = np.zeros(len(links) + 2), np.zeros(len(links) + 2)

    def mean_losses(self):
        return (self.losses + 1) / (self.counts + 2)

    def weights(self, voting):
        roots = np.sqrt(self.mean_losses()[:-2])
        least = min(roots[voting])
        weights = np.where(voting, np.exp(-self.sharpness * self.relative(roots, least)), 0)
        return weights / weights.sum()

    def relative(self, roots, least):
        return roots - least

    def opinion(self, link, f):
        """Return what these scores give each class; of two classes, class 1 less class 0."""
        if len(f) == 1:
            return np.clip(f, -1, 1) if link == 0 else 2 / (1 + np.exp(-link * f)) - 1
        each = np.maximum(0, (1 + f) / 2) if link == 0 else 1 / (1 + np.exp(-link * f))
        return (each + 1e-6) / (each + 1e-6).sum()

    def answer(self, scores, voting):
        """Return the answer to one sample, from the scores of each expert."""
        opinions = [self.opinion(link, f) for link, f in zip(self.links, scores, strict=True)]
        return sum(w * o for w, o in zip(self.weights(voting), opinions, strict=True))

    def loss(self, f, y):
        predicted = f[0] > 0 if len(f) == 1 else np.argmax(f)
        return float(predicted != y)

    def learn(self, scores, y, weight, voting, fed):
        """Answer one sample, then take up everybody's loss."""
        answer = self.answer(scores, voting)
        if weight == 0:
            return answer
        loss = self.loss(answer, y)
        for k, f in enumerate(scores):
            if fed[k]:
                self.note(k, self.loss(f, y), weight, self.decay)
        self.note(len(scores), loss, weight, self.decay)
        self.note(len(scores) + 1, loss, weight, 0.98)
        return answer

    def note(self, k, loss, weight, decay):
        self.losses[k] = decay * self.losses[k] + weight * loss
        self.counts[k] = decay * self.counts[k] + weight

    def is_worse(self):
        usual, lately = self.mean_losses()[-2:]
        return lately > usual + 4 * np.sqrt(usual * (1 - usual) / 100)


class MeanVote(Vote):
    """Vote of experts on targets."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.seen = []

    def mean_losses(self):
        return np.divide(
            self.losses, self.counts, out=np.zeros_like(self.losses), where=self.counts > 0
        )

    def relative(self, roots, least):
        return (roots - least) / (least if least > 0 else 1)

    def opinion(self, link, f):
        if not self.seen:
            return f
        reach = 0.25 * (max(self.seen) - min(self.seen))
        return np.clip(f, min(self.seen) - reach, max(self.seen) + reach)

    def loss(self, f, y):
        return (f[0] - y) ** 2

    def learn(self, scores, y, weight, voting, fed):
        # The first error is one of knowing nothing of the units.
        counted = weight if self.seen else 0
        answer = super().learn(scores, y, counted, voting, fed)
        if weight > 0:
            self.seen.append(y)
        return answer

    def is_worse(self):
        usual, lately = self.mean_losses()[-2:]
        return lately > 2 * usual


def stream_learner(
    scaled, y, experts, costs, vote, time_budget, memory_budget=None, weight=None, rows=None
):
    """Run a race over scaled samples, one by one.

    Parameters
    ----------
    scaled : ndarray of shape (n_samples, n_features)
        Each sample in units of its features' deviations so far.
    experts : list of objects
        With ``score(x)``, ``learn(x, y, weight)``, and ``raw``: whether they get `rows`.
    vote : Vote
    time_budget : float
    memory_budget : ignored
        It chooses the experts.
    rows : ndarray of shape (n_samples, n_features)
        The samples as they come.

    Returns
    -------
    answers : list
    learnt : ndarray
        Samples that each expert learnt.
    history : list of ndarray
        Who voted in each segment.
    """
    m, seen, alarm = len(experts), 0, 0
    voting, learnt = np.ones(m, dtype=bool), np.zeros(m, dtype=int)
    answers, history = [], [voting]
    weights = np.ones(len(y)) if weight is None else weight
    for i, (target, w) in enumerate(zip(y, weights, strict=True)):
        fed = voting | ((np.arange(m) + seen // SEGMENT) % REST == 0)
        own = [(rows if expert.raw else scaled)[i] for expert in experts]
        scores = [np.atleast_1d(expert.score(x)) for expert, x in zip(experts, own, strict=True)]
        answers.append(vote.learn(scores, target, w, voting, fed))
        if w == 0:
            continue
        for k in np.flatnonzero(fed):
            experts[k].learn(own[k], target, w)
        learnt += fed
        seen += 1
        if seen % SEGMENT == 0:
            if vote.is_worse():
                alarm = seen + ALARM
            voting = choose(vote, costs, time_budget, seen < max(TRIAL, alarm))
            history.append(voting)
    return answers, learnt, history


def choose(vote, costs, time_budget, everybody):
    """Return who votes until the next segment ends."""
    m = len(costs)
    weights = vote.weights(np.ones(m, dtype=bool))
    voting, left = np.full(m, everybody), time_budget - sum(costs) / REST
    for k in np.argsort(-weights, kind="stable") if not everybody else ():
        cheap = costs[k] <= 0.03 * time_budget
        strong = weights[k] >= 0.02 * weights.max() and costs[k] <= left
        if not voting.any() or cheap or strong:
            voting[k] = True
            left -= costs[k]
    return voting
