"""Budgeted kernel learners that evict support vectors, one sample at a time, from the equations.

RBP: G. Cavallanti, N. Cesa-Bianchi, C. Gentile, Machine Learning 69, 2007. Forgetron: O. Dekel,
S. Shalev-Shwartz, Y. Singer, SIAM Journal on Computing 37, 2008. BPA-S: Z. Wang, S. Vucetic,
AISTATS 2010. BOGD, BOGD++: P. Zhao, J. Wang, P. Wu, R. Jin, S. Hoi, ICML 2012. Ahpatron: Y. Liao,
J. Li, S. Liao, Q. Hu, J. Dang, AAAI 2024.

With K outputs the coefficient of a support vector is a vector of K numbers and f takes values in
R^K; norms and inner products take the place of absolute values and products.
"""

from functools import partial

import numpy as np

from . import algorithms


class Budgeted(algorithms.Model):
    """A model of at most `budget` support vectors; a new one takes the slot of the evicted one."""

    def __init__(self, n_outputs, gram, *, budget, uniforms=None):
        super().__init__(n_outputs, gram)
        self.budget = budget
        self.uniforms = uniforms
        self.places = []

    def update(self, i, shrink, step, max_support):
        self.n_seen += 1
        self.coefficients = shrink * self.coefficients
        if not np.any(step != 0.0):
            return
        if len(self.support) < self.budget:
            self.coefficients[:, i] = step
            self.support.append(i)
            self.places.append(i)
        else:
            self.replace(i, step)
        assert len(self.support) <= self.budget

    def leave(self, r, i):
        """Evict sample r with its coefficients; i takes its slot."""
        self.coefficients[:, r] = 0.0
        self.support.remove(r)
        self.support.append(i)
        self.places[self.places.index(r)] = i

    def sizes(self):
        """Return the norms of the coefficients, in slot order."""
        return np.linalg.norm(self.coefficients[:, self.places], axis=0)


class RBP(Budgeted):
    """Evict a uniformly random support vector."""

    def replace(self, i, step):
        self.leave(self.places[int(next(self.uniforms) * self.budget)], i)
        self.coefficients[:, i] = step


class Forgetron(Budgeted):
    """Add, shrink by phi, remove the oldest."""

    damage = 0.0
    n_steps = 0
    factors = ()

    def update(self, i, shrink, step, max_support):
        self.n_steps += bool(np.any(step != 0.0))
        super().update(i, shrink, step, max_support)

    def replace(self, i, step):
        self.coefficients[:, i] = step
        oldest = self.support[0]
        a_r = self.coefficients[:, oldest]
        f_r = self.coefficients[:, [*self.support, i]] @ self.gram[[*self.support, i], oldest]
        d = np.linalg.norm(a_r)
        # (d phi)^2 + 2 d phi (1 - phi mu) + Q <= 15/32 M with d mu = <a_r, f(x_r)>.
        quadratic = np.array([d**2 - 2 * a_r @ f_r, 2 * d])
        spare = 15 / 32 * self.n_steps - self.damage
        phi = 1.0
        if quadratic.sum() > spare:
            roots = np.roots([*quadratic, -spare])
            (phi,) = roots[(roots > 0) & (roots < 1)]
        self.damage += quadratic @ [phi**2, phi]
        self.factors = (*self.factors, phi)
        self.coefficients = phi * self.coefficients
        self.leave(oldest, i)


class BPA(Budgeted):
    """Replace the r with the least ||f_new - f||^2 / 2 + C l_new by the sample.

    The step tau y of PA-I is the same for every r, and so is the loss after it.
    """

    def replace(self, i, step):
        def candidate(r):
            change = np.zeros_like(self.coefficients)
            change[:, r] -= self.coefficients[:, r]
            change[:, i] += self.coefficients[:, r] * self.gram[r, i] / self.gram[i, i] + step
            return change

        def distance(r):
            near = [r, i]
            change = candidate(r)[:, near]
            return np.sum(change @ self.gram[np.ix_(near, near)] * change)

        best = min(self.places, key=distance)
        change = candidate(best)
        self.coefficients = self.coefficients + change
        self.leave(best, i)


class BOGD(Budgeted):
    """Evict with probability p_i, divide the others by 1 - p_j, cap, add."""

    def __init__(self, *arguments, removal, most, **others):
        super().__init__(*arguments, **others)
        self.removal = removal
        self.most = most

    def probabilities(self):
        """Return the p_i, in slot order."""
        B, sizes = self.budget, self.sizes()
        if self.removal == "uniform" or B == 1 or sizes.sum() == 0:
            return np.full(B, 1 / B)
        return (1 - sizes / sizes.sum()) / (B - 1)

    def draw(self, probabilities):
        """Return a random slot: drawn uniformly, accepted in proportion to its probability."""
        while True:
            place = int(next(self.uniforms) * self.budget)
            if self.removal == "uniform" or self.budget == 1:
                return place
            if next(self.uniforms) < probabilities[place] * (self.budget - 1):
                return place

    def replace(self, i, step):
        p = self.probabilities()
        place = self.draw(p)
        r = self.places[place]
        for j, p_j in zip(self.places, p, strict=True):
            if j != r:
                self.coefficients[:, j] /= 1 - p_j
        self.coefficients = np.clip(self.coefficients, -self.most, self.most)
        self.leave(r, i)
        self.coefficients[:, i] = step


class Ahpatron(Budgeted):
    """Halve a full set by projection, add, stay in the ball of radius U sqrt(K)."""

    n_halvings = 0
    n_scaled = 0

    def __init__(self, *arguments, radius, **others):
        super().__init__(*arguments, **others)
        self.radius = radius * np.sqrt(len(self.coefficients))

    def norm(self):
        """Return the norm of the K functions together."""
        a = self.coefficients
        return np.sqrt(max(0.0, np.sum(a @ self.gram * a)))

    def scale(self, norm):
        """Give f this norm, unless one of the two is 0."""
        if norm > 0 and self.norm() > 0:
            self.coefficients = self.coefficients * (norm / self.norm())

    def update(self, i, shrink, step, max_support):
        moves = np.any(step != 0.0)
        if moves and len(self.support) == self.budget:
            self.halve()
        super().update(i, shrink, step, max_support)
        if moves and self.norm() > self.radius:
            self.n_scaled += 1
            self.scale(self.radius)

    def halve(self):
        """Project the half of the smaller coefficients onto the others; of equals, the older."""
        before = self.norm()
        # Equal coefficients may differ in rounding, which must not decide here either.
        sizes = np.linalg.norm(self.coefficients[:, self.support], axis=0).round(12)
        order = np.argsort(sizes, kind="stable")[: self.budget - self.budget // 2]
        leaving = [self.support[place] for place in order]
        staying = [s for s in self.support if s not in leaving]
        K_11 = self.gram[np.ix_(staying, staying)] + 5e-4 * np.eye(len(staying))
        K_12 = self.gram[np.ix_(staying, leaving)]
        if staying:
            theta = np.linalg.solve(K_11, K_12 @ self.coefficients[:, leaving].T).T
            self.coefficients[:, staying] += theta
        self.coefficients[:, leaving] = 0.0
        self.support = staying
        self.places = list(staying)
        self.scale(before)
        self.n_halvings += 1


def ahpatron(
    X, y, *, budget=500, eta=0.25, epsilon=0.5, max_norm=None, uniforms=None, seen=None, **common
):
    """Ahpatron; `seen` is given the model, which counts its halvings."""

    def make_model(*arguments):
        radius = 2 * eta * np.sqrt(budget) if max_norm is None else max_norm
        model = Ahpatron(*arguments, budget=budget, radius=radius)
        if seen is not None:
            seen.append(model)
        return model

    gate = ("margin", 1 - epsilon)
    return algorithms.kernel_ogd(X, y, eta=eta, gate=gate, make_model=make_model, **common)


def rbp(X, y, *, budget=500, uniforms, **common):
    """RBP."""
    model = partial(RBP, budget=budget, uniforms=uniforms)
    return algorithms.kernel_perceptron(X, y, make_model=model, **common)


def forgetron(X, y, *, budget=500, uniforms=None, **common):
    """Forgetron, self-tuned."""
    model = partial(Forgetron, budget=budget)
    return algorithms.kernel_perceptron(X, y, make_model=model, **common)


def bpa(X, y, *, budget=500, C=1.0, uniforms=None, **common):
    """BPA-S, with the step of PA-I."""
    model = partial(BPA, budget=budget)
    return algorithms.kernel_pa(X, y, C=C, variant="pa1", make_model=model, **common)


def bogd(X, y, *, budget=500, removal="uniform", cap=1.0, eta=0.5, uniforms, **common):
    """BOGD (removal "uniform") and BOGD++ ("nonuniform")."""
    most = np.inf if cap is None else eta * cap
    model = partial(BOGD, budget=budget, uniforms=uniforms, removal=removal, most=most)
    return algorithms.kernel_ogd(X, y, eta=eta, make_model=model, **common)
