"""Twins of the vote of experts, and of the race that decides who votes.

Losses are discounted: L <- d L + w l, N <- d N + w for a sample of weight w; w is 0 for an expert
that did not learn it. d is min(0.999, 1 - 2 / 3 x) with x = w / max N, and 1 / (3 x^2) where x > 1;
of the vote's own 0.999. Of classes, l is 1 for a mistake, e = (L + 1) / (N + 2), and an expert's
share is exp(-c (sqrt(e) - sqrt(min e))). Of targets, l is the squared error, e = L / N, and the
share is exp(-c (sqrt(e / min e) - 1)).

One more voter is a combination of the experts, whose weights sum to 1 and minimise w' E w + h |w -
v|^2: E_ij = F_ij / sqrt(N_i N_j) has the discounted means of the products of errors, v the experts'
shares, and h is 10 min E_kk / N_k. A sample that an expert does not learn leaves F_ii and N_i as
they are, and F_ij <- sqrt(d) F_ij for a j that learns it: F stays a sum of squares.

Of targets all begin anew at an early sample, max N <= 20, where more than half of the experts lose
less than 1e-7 of min L: a single target was far off, and chance decided who lost most there.
"""

import copy

import numpy as np

from oracles.drift import STAKES, uniform

SEGMENT, TRIAL, REST, ALARM = 256, 1024, 8, 512


class Vote:
    """The vote of experts; `links` has a slope for each, 0 for least squares, < 0 for a softmax."""

    def __init__(self, links, decay=0.999, sharpness=60.0):
        self.links, self.decay, self.sharpness = links, decay, sharpness
        # These are of each expert, of the vote, of the vote lately, and of the combination.
        self.losses, self.counts = np.zeros(len(links) + 3), np.zeros(len(links) + 3)
        self.errors, self.met = np.zeros((len(links), len(links))), np.zeros(len(links))

    def mean_losses(self):
        return (self.losses + 1) / (self.counts + 2)

    def weights(self, voting):
        weights = self.unscaled(voting)[:-1]
        return weights / weights.sum()

    def unscaled(self, voting):
        """Return the shares of the experts and of the combination, the best expert's being 1."""
        roots = np.sqrt(np.delete(self.mean_losses(), [-3, -2]))
        least = min(roots[:-1][voting])
        voters = np.append(voting, self.counts[-1] > 0)
        return np.where(voters, np.exp(-self.sharpness * self.relative(roots, least)), 0)

    def combination(self, voting):
        """Return the weights of the experts in the combination."""
        weights, pair = self.weights(voting), np.ix_(voting, voting)
        met = self.met[voting]
        fewest = met.min()
        if fewest == 0:
            return weights
        matrix, shares = self.errors[pair] / np.sqrt(np.outer(met, met)), weights[voting]
        level = 10 * np.diag(matrix).min() / fewest
        # Lagrange's equations: (E + h) w - h v is the same for all, and w sums to 1.
        n = len(shares)
        system = np.block([[matrix + level * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), 0]])
        weights = np.zeros(len(voting))
        weights[voting] = np.linalg.solve(system, np.append(level * shares, 1))[:n]
        return weights

    def factors(self, voting):
        """Return what each expert's answer is multiplied by."""
        *experts, own = self.unscaled(voting)
        total = np.array(experts) + own * self.combination(voting)
        return total / (sum(experts) + own)

    def relative(self, roots, least):
        return roots - least

    def opinion(self, link, f):
        """Return what these scores give each class; of two classes, class 1 less class 0."""
        if len(f) == 1:
            return np.clip(f, -1, 1) if link == 0 else 2 / (1 + np.exp(-link * f)) - 1
        each = np.maximum(0, (1 + f) / 2) if link == 0 else 1 / (1 + np.exp(-link * f))
        if link < 0:
            each = np.exp(-link * (f - f.max()))
        return (each + 1e-6) / (each + 1e-6).sum()

    def answer(self, scores, voting):
        """Return the answer to one sample, from the scores of each expert."""
        return self.bounded(self.factors(voting) @ self.opinions(scores))

    def opinions(self, scores):
        """Return what each expert answers."""
        return np.array([self.opinion(link, f) for link, f in zip(self.links, scores, strict=True)])

    def bounded(self, answer):
        return answer

    def error(self, opinions, y):
        """Return how much answers are off; the only output of two classes stands for two."""
        if opinions.shape[1] == 1:
            return (opinions - (1 if y > 0 else -1)) / np.sqrt(2)
        return opinions - np.eye(opinions.shape[1])[int(y)]

    def loss(self, f, y):
        predicted = f[0] > 0 if len(f) == 1 else np.argmax(f)
        return float(predicted != y)

    def learn(self, scores, y, weight, voting, fed):
        """Answer one sample, then take up everybody's loss."""
        answer = self.answer(scores, voting)
        if weight == 0:
            return answer
        loss, opinions = self.loss(answer, y), self.opinions(scores)
        combined = self.bounded(self.combination(voting) @ opinions)
        if self.is_swamped(scores, y, weight, fed):
            self.losses[:], self.counts[:], self.errors[:], self.met[:] = 0, 0, 0, 0
        most = max(self.counts[: len(scores)])
        share = most / weight
        discount = min(1 - 2 / 3 / share if share >= 1 else share**2 / 3, self.decay)
        self.note(-1, self.loss(combined, y), weight, discount)
        for k, f in enumerate(scores):
            learns = weight if fed[k] else 0
            self.note(k, self.loss(f, y), learns, discount)
        self.note(len(scores), loss, weight, self.decay)
        self.note(len(scores) + 1, loss, weight, 0.98)
        error = self.error(opinions, y)
        learns = np.asarray(fed) > 0
        kept, told = np.where(learns, np.sqrt(discount), 1), error * learns[:, None]
        self.errors = np.outer(kept, kept) * self.errors + weight * told @ told.T
        self.met = kept**2 * self.met + weight * learns
        return answer

    def is_swamped(self, scores, y, weight, fed):
        """Whether all begin anew, for what was lost was lost at a single early sample."""
        return False

    def note(self, k, loss, weight, decay):
        self.losses[k] = decay * self.losses[k] + weight * loss
        self.counts[k] = decay * self.counts[k] + weight

    def is_worse(self):
        usual, lately = self.mean_losses()[-3:-1]
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
        return self.bounded(f)

    def bounded(self, answer):
        if not self.seen:
            return answer
        reach = 0.25 * (max(self.seen) - min(self.seen))
        return np.clip(answer, min(self.seen) - reach, max(self.seen) + reach)

    def error(self, opinions, y):
        return opinions - y

    def loss(self, f, y):
        return (f[0] - y) ** 2

    def learn(self, scores, y, weight, voting, fed):
        # The first error is one of knowing nothing of the units.
        counted = weight if self.seen else 0
        answer = super().learn(scores, y, counted, voting, fed)
        if weight > 0:
            self.seen.append(y)
        return answer

    def is_swamped(self, scores, y, weight, fed):
        learns = np.asarray(fed) > 0
        lost = np.array([weight * self.loss(f, y) for f in scores])[learns]
        early = max(self.counts[: len(scores)]) <= 20 * weight
        return early and np.mean(lost < 1e-7 * self.losses[: len(scores)][learns].min()) > 0.5

    def is_worse(self):
        usual, lately = self.mean_losses()[-3:-1]
        return lately > 2 * usual


class TwinTarget:
    """A target and its twin z = asinh(y / s), of which an expert gives both scores.

    s is half of the median size of the first 256 targets that are not 0. A score of z says s exp(v
    / 2) sinh(z) of y, v being the discounted mean of the squared errors of z; a vote answers.
    """

    def __init__(self):
        self.vote, self.sizes, self.scale = MeanVote((0, 0)), [], 1.0
        self.errors = self.met = 0.0

    def opinions(self, both):
        variance = self.errors / self.met if self.met > 0 else 0
        factor = self.scale * np.exp(min(50, variance / 2))
        said = factor * np.sinh(np.clip(both[1], -50, 50))
        return [np.array([both[0]]), self.vote.bounded(np.array([said]))]

    def answer(self, both):
        """Return the answer to one sample, from the scores of both."""
        return self.vote.answer(self.opinions(both), np.ones(2, dtype=bool))

    def learn(self, both, y, weight):
        """Take up the target of a sample with these scores; return it and its twin."""
        opinions, blind = self.opinions(both), not self.vote.seen
        if weight > 0 and y != 0 and len(self.sizes) < 256:
            self.sizes.append(abs(y))
            self.scale = np.median(self.sizes) / 2
        z = np.arcsinh(y / self.scale)
        self.vote.learn(opinions, y, weight, np.ones(2, dtype=bool), np.ones(2, dtype=bool))
        if weight > 0 and not blind:
            self.errors = 0.999 * self.errors + weight * (z - both[1]) ** 2
            self.met = 0.999 * self.met + weight
        return np.array([y, z])


def stream_learner(
    scaled, y, experts, costs, vote, time_budget, memory_budget=None, weight=None, rows=None,
    patience=None,
):  # fmt: skip
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
    patience : sequence of int
        The samples before which each expert does not sleep.

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
            waits = seen < np.array(patience or [0] * m)
            voting = choose(vote, costs, time_budget, seen < max(TRIAL, alarm), waits)
            history.append(voting)
    return answers, learnt, history


def choose(vote, costs, time_budget, everybody, waits):
    """Return who votes until the next segment ends."""
    m = len(costs)
    weights = vote.weights(np.ones(m, dtype=bool))
    voting, left = np.full(m, everybody), time_budget - sum(costs) / REST
    if everybody:
        return voting
    # The best expert stays awake, and who has patience.
    for k in {int(np.argmax(weights)), *map(int, np.flatnonzero(waits))}:
        voting[k] = True
        left -= costs[k]
    for k in np.argsort(-weights, kind="stable"):
        if voting[k]:
            continue
        cheap = costs[k] <= 0.02 * time_budget
        strong = weights[k] >= 0.02 * weights.max() and costs[k] <= left
        if cheap or strong:
            voting[k] = True
            left -= costs[k]
    return voting


def coded_rows(X, layout):
    """Return rows of numbers of categories: the first feature of a group that is not 0."""
    rows = np.empty((len(X), len(layout)))
    for j, (first, count) in enumerate(layout):
        for i, x in enumerate(X):
            if count == 1:
                rows[i, j] = x[first]
            elif count == 0:
                rows[i, j] = np.nan if x[first + 1] else x[first]
            else:
                ones = np.flatnonzero(x[first : first + count])
                rows[i, j] = ones[0] if len(ones) else 65535
    return rows


class Bets:
    """Bets that losses grow, by their ranks, up to an alarm; `oracles.drift` has the payoffs."""

    def __init__(self, run_length=100_000, seed=2625):
        self.run_length, self.seed, self.n, self.levels = run_length, seed, 0, []
        self.wealth = np.zeros((2, len(STAKES)))

    def see(self, loss):
        """Return whether a loss in [0, 1] raises an alarm, after which all begins anew."""
        level = np.rint(255 * loss)
        self.levels.append(level)
        larger, equal = (np.sum(f(self.levels, level)) for f in (np.greater, np.equal))
        p = (larger + uniform(self.seed, self.n) * equal) / len(self.levels)
        payoffs = np.array([[1 - 2 * p], [0.5 / np.sqrt(p) - 1]])
        self.wealth = (self.wealth + 1) * (1 + np.array(STAKES) * payoffs)
        self.n += 1
        if self.wealth.mean() < self.run_length:
            return False
        self.levels, self.wealth = [], 0 * self.wealth
        return True


def renewed_stream(blank, X, y, weight=None):
    """Run races or models that begin anew, row by row.

    Parameters
    ----------
    blank : Race or Model of the core
        One that has learnt nothing; each race is a copy of it.
    X, y, weight : ndarrays, or None
        y has a column for each target, if there are several.

    Returns
    -------
    answers : ndarray
    alarms : list
    race : the one that answers behind the last row
    """
    of_targets = blank.recent is None
    race, rival, left, due = copy.deepcopy(blank), None, 0, False
    bets, first, seen, answers, alarms, sums, largest = Bets(), [], 0, [], [], [], 0
    pause, resting, newest = 0, 0, None
    for x, target, w in zip(X, y, np.ones(len(y)) if weight is None else weight, strict=True):
        row, goal = x[None], np.atleast_1d(target)
        told = [
            None if one is None else one.learn(row, goal, np.array([w]))[0] for one in (race, rival)
        ]
        answers.append(told[0])
        if w == 0:
            continue
        seen += 1
        losses = [
            None
            if one is None
            else w * (np.sum((one - target) ** 2) if of_targets else one != target)
            for one in told
        ]
        resting = max(0, resting - 1)
        loss, largest = (losses[0] / w), max(w, 0.999 * largest)
        if uniform(2626, seen) * largest > w:
            pass
        elif of_targets and len(first) < 100:
            first += [loss] if loss > 0 else []
        elif of_targets:
            ratio = (loss / np.exp(np.mean(np.log(first)))) ** 0.25
            due |= bets.see(ratio / (1 + ratio))
        else:
            due |= bets.see(loss)
        due &= resting == 0
        if rival is not None:
            left -= 1
            sums = [
                [decay * total + one for total, one in zip(both, losses, strict=True)]
                for decay, both in zip((0.99, 0.998), sums, strict=True)
            ]
            decisive = sums[1] if left == 0 else sums[0]
            if left == 0:
                # Of the new race, and of the old one.
                new, old = sums[1] if race is newest else sums[1][::-1]
                much = new < 0.9 * old
                pause = 0 if much else max(500, 2 * pause)
                resting = pause if pause >= 1000 else 0
                due &= resting == 0
            if decisive[1] < decisive[0]:
                race, rival = rival, race
                sums = [both[::-1] for both in sums]
        if left == 0:
            rival = None
            if due:
                rival, left, due, sums = copy.deepcopy(blank), 1000, False, [[0, 0], [0, 0]]
                newest = rival
                alarms.append(seen)
    return np.array(answers), alarms, race
