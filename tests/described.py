"""What an exported model computes: its description (`onlinekern.fitted.export`), in NumPy."""

import numpy as np
import scipy.sparse as sp

from onlinekern.core.samples.coded import coded_rows
from onlinekern.estimators.kernel_width import falls_with_distance
from onlinekern.fitted.export import scoring as parts
from onlinekern.fitted.export import terms
from onlinekern.preprocessing.tables.frames import array_in, table_of


def scores_of_model(scoring, X):
    """Return the scores of rows, ndarray (n, n_outputs)."""
    rows = terms.dense(X) if scoring.table is None else encoded(scoring.table, X)
    return body_scores(scoring.body, after_all(scoring.steps, rows))


def predictions_of_model(scoring, X):
    """Return the class numbers of rows, or targets, ndarray (n,); of several (n, n_outputs)."""
    scores = scores_of_model(scoring, X)
    if scoring.head == "regression":
        return scores[:, 0] if scoring.n_outputs == 1 else scores
    if scoring.head == "classes":
        return scores.argmax(axis=1)
    return (scores[:, 0] > 0 if scoring.head == "binary" else scores[:, 0] >= 0).astype(np.intp)


def encoded(table, X):
    """Return the rows of features of a table."""
    found, _ = table_of(X, [column.name for column in table.columns])
    blocks = [column.features(array_in(found, column.name)) for column in table.columns]
    rows = np.hstack([b.toarray() if sp.issparse(b) else b for b in blocks])
    return rows if table.scaling is None else table.scaling.apply(rows)


def after_all(steps, X):
    """Return rows that have gone through steps."""
    for step in steps:
        if isinstance(step, parts.Features):
            X = step.map.features(X)
        else:
            X = X @ step.root if isinstance(step, parts.Turned) else step.apply(X)
    return X


def body_scores(body, X):
    """Return the scores of a sum or a vote, ndarray (n, n_outputs)."""
    if isinstance(body, parts.Sum):
        return sum_scores(body, X)
    if isinstance(body, parts.PairVote):
        return pair_votes(body, X)
    total = np.zeros((len(X), body.n_outputs))
    for member, scores in scores_of_members(body, X):
        if isinstance(body, parts.ClassVote):
            total += member.share * shares(body, member, scores)
        else:
            total += member.share * np.clip(scores, body.least, body.most)
    return total if isinstance(body, parts.ClassVote) else np.clip(total, body.least, body.most)


def sum_scores(body, X):
    total = np.zeros((len(X), body.n_outputs))
    for term in body.terms:
        own = TERMS.get(type(term))
        total += term.scores(X) if own is None else own(term, X)
    return body.shift + body.scale * total


def pair_votes(body, X):
    """Return the votes of pairs for the classes."""
    scores, signs = sum_scores(body.sum, X), body.signs()
    votes = (scores > 0) @ np.maximum(signs, 0) + (scores <= 0) @ np.maximum(-signs, 0)
    totals = scores @ signs
    return votes + totals / (3 * (np.abs(totals) + 1))


def scores_of_members(vote, X):
    """Yield each member of a vote with its scores of rows."""
    scaled = after_all(vote.steps, X)
    raw = coded_rows(X, vote.layout) if vote.layout else X
    for member in vote.members:
        scores = sum_scores(member.sum, raw if member.raw else scaled)
        yield member, scores if member.twin is None else twin_scores(member.twin, scores)


def twin_scores(twin, both):
    """Return the scores of rows, ndarray (n, 1), from those of both, (n, 2)."""
    z = np.clip(both[:, 1:], -parts.MOST_TWIN, parts.MOST_TWIN)
    said = twin.factor * np.sinh(z)
    own, other = (np.clip(each, twin.least, twin.most) for each in (both[:, :1], said))
    return np.clip(twin.own * own + twin.other * other, twin.least, twin.most)


def shares(vote, member, scores):
    """Return what a member with these scores gives the classes."""
    # exp of a large number is inf, and 1 / (1 + inf) is the 0 that is meant.
    with np.errstate(over="ignore"):
        logistic = 1 / (1 + np.exp(-member.link * scores))
    if vote.n_outputs == 1:
        return np.clip(scores, -1, 1) if member.link == 0 else 2 * logistic - 1
    own = np.maximum(0, (1 + scores) / 2) if member.link == 0 else logistic
    if member.link < 0:
        own = np.exp(-member.link * (scores - scores.max(axis=1, keepdims=True)))
    own = own + parts.LEAST_SHARE
    return own / own.sum(axis=1, keepdims=True)


def leverage_scores(term, X):
    """Return 1 / (1 + z' M z + max(0, kappa(x, x) - z'z) / reg), ndarray (n, 1)."""
    z = term.map.features(X)
    variance = np.maximum(np.einsum("if,fg,ig->i", z, term.matrix, z), 0)
    if isinstance(term.map, terms.Projected):
        diagonal = kernel_diagonal(term.map.kernel, X)
        rest = diagonal - np.square(z).sum(axis=1)
        variance += np.where(rest > term.rounding * diagonal, rest, 0) / term.reg
    return (1 / (1 + variance))[:, np.newaxis]


def kernel_diagonal(kernel, X):
    """Return the kernel value of each row with itself, ndarray (n,)."""
    squares = np.square(X).sum(axis=1)
    if falls_with_distance(kernel.name):
        return np.ones(len(X))
    if kernel.name == "cosine":
        return (squares > 0).astype(np.float64)
    return kernel.of_products(squares)


def local_scores(term, X):
    """Return the shares of the nearest prototypes times their hyperplanes, ndarray (n, k)."""
    return np.array([local_score(term, x) for x in X]).reshape(len(X), term.weights.shape[1])


def local_score(term, x):
    distances = np.square(term.prototypes - x).sum(axis=1)
    nearest = np.argsort(distances, kind="stable")[: term.n_assign]
    excess = distances[nearest] - distances[nearest[0]]
    own = (np.arange(len(nearest)) == 0).astype(np.float64)
    if term.bandwidth > 0:
        own = np.exp(-excess / term.bandwidth)
    own /= np.sqrt(np.square(own).sum())
    local = np.einsum("jkf,jf->jk", term.weights[nearest], x - term.centers[nearest])
    return own @ (local + term.intercepts[nearest])


TERMS = {terms.Leverage: leverage_scores, terms.Local: local_scores}
