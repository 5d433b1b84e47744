"""KernelGradients: the gradients of kernel least squares, which show where a function changes.

f(x) = sum_j a_j exp(-gamma |x - c_j|^2_M) + b . x + b_0 is fitted to rows; the landmarks c_j are
some of them, and |x|^2_M = sum_j M_j x_j^2 is the norm of a diagonal metric M. Metrics and splits
are learnt from the mean squared gradient along each feature, and from the mean outer product of
the gradients (AGOP: Radhakrishnan, Beaglehole, Pandit and Belkin 2024).
"""
import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dtrtrs

from onlinekern.core.linalg.pieces import factor_columns

# Scale of the linear features: it decides how much of the function the linear part fits.
LINEAR = 0.3
# With more features there is no linear part and no directions: both cost d^3.
MOST_LINEAR = 1000
# Prior precision of the weights, relative to that of the noise. JITTER times it is added to the
# diagonal of the kernel part, so that it stays definite if rows are equal.
RIDGE = 0.05
JITTER = 1e-6
# Rows, or columns of the normal equations, of one step.
BLOCK = 32
# Iterations of `iterated_directions`.
ROUNDS = 3
# More outputs are replaced by this many random sums of them with the same mean square.
MOST_OUTPUTS = 8


def few_outputs(Y, signs):
    """At most `MOST_OUTPUTS` random sums of outputs with the same expected squared gradients.

    Parameters
    ----------
    Y : ndarray of shape (n, n_outputs)
    signs : numpy.random.RandomState
        Draws the signs of the sums.
    """
    if Y.shape[1] <= MOST_OUTPUTS:
        return Y
    drawn = signs.randint(2, size=(Y.shape[1], MOST_OUTPUTS)) * 2.0 - 1.0
    return Y @ drawn / np.sqrt(MOST_OUTPUTS)


def has_linear(d):
    """Whether there may be a linear part with d features."""
    return d <= MOST_LINEAR


def n_equations(m, d, linear=True):
    """Number of normal equations with m landmarks and d features."""
    return m + (d if linear and has_linear(d) else 0) + 1


class KernelGradients:
    """Kernel least squares of rows, and its gradients.

    `finish` does all the work. It can also be done in steps of at most `BLOCK` rows or equations:
    `compare` and `absorb` for all rows, `factor` for all equations in ascending order, `solve`, and
    `differentiate` for all rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Scaled rows.
    Y : ndarray of shape (n, n_outputs)
    landmarks : ndarray of shape (m,), intp
        Numbers of the rows that are landmarks.
    metric : ndarray of shape (d,)
    gamma : float
    is_directed : bool
        Whether directions will be computed from the gradients.
    linear : bool
        Whether there is a linear part, if d is small enough. Without it, outer products of the
        gradients are not summed either: they cost as much.
    room : int
        Columns of `along` after the squared slopes along features, for those along directions.
    keeps : bool
        Whether to keep the gradients for `squares_along`, also without `is_directed`.

    Attributes
    ----------
    gradients : ndarray of shape (n_outputs, n, d), or None
        Gradients of the outputs at the rows. They take most of the memory.
    squares : ndarray of shape (n, d)
        Squared slopes along each feature, summed over the outputs: the first columns of `along`.
    product : ndarray of shape (d, d), or None
        Outer products of the gradients, summed over the rows and the outputs.
    """

    def __init__(self, X, Y, landmarks, metric, gamma, is_directed=True, linear=True, room=0,
                 keeps=False):
        n, d = X.shape
        m = len(landmarks)
        self.root, self.Y = np.sqrt(metric), Y
        self.rows, self.landmarks = X, landmarks
        self.linear = LINEAR / np.sqrt(d) if linear and has_linear(d) else 0.0
        size = n_equations(m, d, linear)
        # A buffer of rows [M^(1/2) x, 1, |x|^2_M]: its product with `exponents` is
        # -gamma |x - c|^2_M for all landmarks.
        self.X, C = np.empty((min(n, BLOCK), d + 2)), X[landmarks] * self.root
        norms = (C * C).sum(axis=1)
        self.exponents = np.column_stack([2 * gamma * C, -gamma * norms, np.full(m, -gamma)]).T
        self.C, self.gamma = np.column_stack([C, np.ones(m)]), gamma
        # Kernel values, linear features, and 1.
        self.features = np.empty((n, size))
        self.kernel = self.features[:, :m]
        # Upper triangles of the normal matrix and of its Cholesky factor.
        self.A, self.b = np.zeros((size, size), order="F"), np.zeros((size, Y.shape[1]))
        self.factors, self.is_definite = np.zeros((size, size), order="F"), True
        keeps = keeps or is_directed
        self.gradients = np.empty((Y.shape[1], n, d)) if keeps else None
        # Without: a buffer for the gradients of a block of rows.
        self.some = None if keeps else np.empty((Y.shape[1], min(n, BLOCK), d))
        self.along, self.product = np.empty((n, d + room)), None
        self.squares = self.along[:, :d]
        self.is_directed = is_directed
        if is_directed and linear:
            self.product = np.zeros((d, d))

    @classmethod
    def of(cls, X, Y, landmarks, metric, gamma):
        """A fitted machine."""
        fitted = cls(X, Y, landmarks, metric, gamma)
        fitted.finish()
        return fitted

    def finish(self):
        """Do all the work at once."""
        blocks = [slice(first, first + BLOCK) for first in range(0, len(self.rows), BLOCK)]
        for rows in blocks:
            self.compare(rows)
            self.absorb(rows)
        for first in range(0, len(self.A), BLOCK):
            self.factor(slice(first, first + BLOCK))
        self.solve()
        for rows in blocks:
            self.differentiate(rows)

    def compare(self, rows):
        """Compute the features of a slice of the rows: kernel values, linear features and 1."""
        given, features = self.rows[rows], self.features[rows]
        m, (n, d) = len(self.landmarks), given.shape
        seen, kernel = self.X[:n], features[:, :m]
        features[:, -1], seen[:, d] = 1, 1
        X = np.multiply(given, self.root, out=seen[:, :d])
        np.einsum("ij,ij->i", X, X, out=seen[:, d + 1])
        np.exp(np.matmul(seen, self.exponents, out=kernel), out=kernel)
        if self.linear:
            np.multiply(given, self.linear, out=features[:, m:m + d])

    def absorb(self, rows):
        """Add a slice of the rows, after `compare`, to the normal equations."""
        features = self.features[rows].T
        dsyrk(1.0, features, beta=1.0, c=self.A, overwrite_c=1)
        self.b += features @ self.Y[rows]

    def factor(self, columns):
        """Compute some columns of the Cholesky factor, A = U^T U, after all columns before them."""
        first, last = columns.start, min(columns.stop, len(self.A))
        if first >= last:
            return
        U, m, own = self.factors, len(self.landmarks), slice(first, last)
        prior, chosen = np.arange(first, last), self.landmarks[own]
        self.A[first:first + len(chosen), :m] += RIDGE * self.kernel[chosen]
        self.A[prior, prior] += RIDGE * np.where(prior < m, JITTER, 1.0)
        if not self.is_definite:
            return
        self.is_definite = factor_columns(self.A, U, first, last)

    def solve(self, _=None):
        """Solve the normal equations: weights of the landmarks, and slopes of the linear part."""
        m, d = len(self.landmarks), len(self.root)
        if self.is_definite:
            half, _ = dtrtrs(self.factors, self.b, trans=1)
            weights, _ = dtrtrs(self.factors, half)
        else:
            upper = np.triu(self.A)
            whole = upper + np.triu(upper, 1).T
            weights = np.linalg.lstsq(whole, self.b, rcond=None)[0]
        # Factors of a kernel value in the gradient, for each output: -2 gamma a_j [c_j, 1].
        pulls = -2 * self.gamma * weights[:m, :, None] * self.C[:, None]
        self.pulls = pulls.reshape(m, -1)
        self.slopes = self.linear * weights[m:m + d].T if self.linear else np.zeros(
            (self.Y.shape[1], d))

    def differentiate(self, rows):
        """Compute the gradients at a slice of the rows."""
        d, squares = len(self.root), self.squares[rows]
        n = len(squares)
        found = self.some[:, :n] if self.gradients is None else self.gradients[:, rows]
        sums = (self.kernel[rows] @ self.pulls).reshape(n, -1, d + 1).swapaxes(0, 1)
        # sum_j p_j (x - c_j)
        X = np.multiply(self.rows[rows], self.root, out=self.X[:n, :d])
        np.multiply(sums[:, :, d:], X, out=found)
        found -= sums[:, :, :d]
        found *= self.root
        found += self.slopes[:, None]
        np.einsum("kij,kij->ij", found, found, out=squares)
        if self.product is not None:
            flat = found.reshape(-1, d)
            self.product += flat.T @ flat

    def squares_along(self, directions, rows):
        """Squared slopes along directions, summed over the outputs.

        Parameters
        ----------
        directions : ndarray of shape (d, n_directions)
        rows : slice

        Returns
        -------
        ndarray of shape (n_rows, n_directions)
        """
        along = self.gradients[:, rows] @ directions
        return (along * along).sum(axis=0)


def leading_directions(matrix, count):
    """Leading eigenvectors of a symmetric matrix, ndarray (d, at most count)."""
    _, vectors = np.linalg.eigh(matrix)
    return vectors[:, ::-1][:, :count]


def iterated_directions(gradients, features, count):
    """Leading eigenvectors of the gradients' outer products, roughly, by orthogonal iteration.

    Parameters
    ----------
    gradients : ndarray of shape (n_outputs, n, d)
    features : ndarray of intp
        The features that directions mix.
    count : int

    Returns
    -------
    ndarray of shape (n_features, at most count)
    """
    G = gradients[:, :, features].reshape(-1, len(features))
    found = np.linalg.qr(G[::max(1, len(G) // count)][:count].T)[0]
    for _ in range(ROUNDS):
        found = np.linalg.qr(G.T @ (G @ found))[0]
    return found


def signed(vectors, count):
    """Vectors with signs such that their largest coordinate is > 0, ndarray of shape (d, count).

    Missing columns are zeros.
    """
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    out = np.zeros((len(vectors), count))
    out[:, :vectors.shape[1]] = vectors * np.where(signs == 0, 1.0, signs)
    return out
