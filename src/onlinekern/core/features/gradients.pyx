"""KernelGradients: the gradients of kernel least squares, which tell where a function changes.

f(x) = sum_j a_j exp(-gamma |x - c_j|^2_M) + b . x + b_0 is fitted to rows with landmarks c_j among
them, where |x|^2_M = sum_j M_j x_j^2 is the norm of a diagonal metric M. The mean square of the
gradient along each feature, and the mean of its outer product (the average gradient outer product,
AGOP), are what a metric or a cut is learnt from (Radhakrishnan, Beaglehole, Pandit and Belkin
2024).
"""
import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dtrtrs

from onlinekern.core.linalg.pieces import factor_columns

# The weight of the linear part: it is to take what is linear, and to leave the rest to the kernel.
LINEAR = 0.3
# More features have no linear part and no directions, which cost their cube.
MOST_LINEAR = 1000
# A prior precision, in units of the noise's, and what makes it definite where rows are equal.
RIDGE = 0.05
JITTER = 1e-6
# Rows that are learnt together, and columns of the normal equations that are factored together.
BLOCK = 32
# Rounds of the iteration that finds directions.
ROUNDS = 3
# More outputs are replaced by so many random sums of them, which have the same mean square.
MOST_OUTPUTS = 8


def few_outputs(Y, signs):
    """At most `MOST_OUTPUTS` outputs, whose gradients have the same expected mean square.

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
    """Whether a machine of so many features has a linear part."""
    return d <= MOST_LINEAR


def n_equations(m, d, linear=True):
    """How many normal equations a machine of m landmarks and d features has."""
    return m + (d if linear and has_linear(d) else 0) + 1


class KernelGradients:
    """Kernel least squares of rows, and its gradients.

    The work can be done in pieces: `compare` and then `absorb` at most `BLOCK` rows after others,
    `factor` all equations in ascending order, `solve`, then `differentiate` all rows, as many at a
    time.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        In units of the spread of each feature.
    Y : ndarray of shape (n, n_outputs)
    landmarks : ndarray of shape (m,), intp
        Rows that are landmarks.
    metric : ndarray of shape (d,)
    gamma : float
    is_directed : bool
        Whether directions of the gradients are wanted.
    linear : bool
        Whether there is a linear part, if features are not too many for it. Where it would cost too
        much, so would outer products of the gradients.
    room : int
        Columns behind the squares of the slopes in `along`, for those along directions.
    keeps : bool
        Whether slopes along directions will be asked for, though none are sought.

    Attributes
    ----------
    gradients : ndarray of shape (n_outputs, n, d), or None
        Of the outputs at the rows, for directions: they take the most memory.
    squares : ndarray of shape (n, d)
        Squares of the slopes along each feature, summed over the outputs: the first columns of
        `along`.
    product : ndarray of shape (d, d)
        Outer products of the gradients, summed over the rows and the outputs, or None.
    """

    def __init__(self, X, Y, landmarks, metric, gamma, is_directed=True, linear=True, room=0,
                 keeps=False):
        n, d = X.shape
        m = len(landmarks)
        self.root, self.Y = np.sqrt(metric), Y
        self.rows, self.landmarks = X, landmarks
        self.linear = LINEAR / np.sqrt(d) if linear and has_linear(d) else 0.0
        size = n_equations(m, d, linear)
        # Rows in the metric, with 1 and their square beside: some that are compared at a time. One
        # product with the landmarks then gives -gamma |x - c|^2, another one what they pull.
        self.X, C = np.empty((min(n, BLOCK), d + 2)), X[landmarks] * self.root
        norms = (C * C).sum(axis=1)
        self.exponents = np.column_stack([2 * gamma * C, -gamma * norms, np.full(m, -gamma)]).T
        self.C, self.gamma = np.column_stack([C, np.ones(m)]), gamma
        # Kernel values, linear features, and 1.
        self.features = np.empty((n, size))
        self.kernel = self.features[:, :m]
        # Upper triangles: of the equations, and of their Cholesky factor.
        self.A, self.b = np.zeros((size, size), order="F"), np.zeros((size, Y.shape[1]))
        self.factors, self.is_definite = np.zeros((size, size), order="F"), True
        keeps = keeps or is_directed
        self.gradients = np.empty((Y.shape[1], n, d)) if keeps else None
        # Else there are those of some rows at a time.
        self.some = None if keeps else np.empty((Y.shape[1], min(n, BLOCK), d))
        self.along, self.product = np.empty((n, d + room)), None
        self.squares = self.along[:, :d]
        self.is_directed = is_directed
        if is_directed and linear:
            self.product = np.zeros((d, d))

    @classmethod
    def of(cls, X, Y, landmarks, metric, gamma):
        """Do all the work at once; return the gradients of the fitted machine."""
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
        """Find the kernel values of a slice of the rows with the landmarks."""
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
        """Add a slice of the rows, which have been compared, to the normal equations."""
        features = self.features[rows].T
        dsyrk(1.0, features, beta=1.0, c=self.A, overwrite_c=1)
        self.b += features @ self.Y[rows]

    def factor(self, columns):
        """Factor some of the normal equations, behind all before them (Cholesky, A = U^T U)."""
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
        """Find the weights of the landmarks, and the slopes of the linear part."""
        m, d = len(self.landmarks), len(self.root)
        if self.is_definite:
            half, _ = dtrtrs(self.factors, self.b, trans=1)
            weights, _ = dtrtrs(self.factors, half)
        else:
            upper = np.triu(self.A)
            whole = upper + np.triu(upper, 1).T
            weights = np.linalg.lstsq(whole, self.b, rcond=None)[0]
        # What a kernel value pulls, for each output: a_j c_j and a_j.
        pulls = -2 * self.gamma * weights[:m, :, None] * self.C[:, None]
        self.pulls = pulls.reshape(m, -1)
        self.slopes = self.linear * weights[m:m + d].T if self.linear else np.zeros(
            (self.Y.shape[1], d))

    def differentiate(self, rows):
        """Find the gradients at a slice of the rows."""
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
        """Squares of the slopes along other directions, summed over the outputs.

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
    """Eigenvectors of the largest eigenvalues of a symmetric matrix, ndarray (d, count at most)."""
    _, vectors = np.linalg.eigh(matrix)
    return vectors[:, ::-1][:, :count]


def iterated_directions(gradients, features, count):
    """About the same of the outer products of gradients, by orthogonal iteration.

    Parameters
    ----------
    gradients : ndarray of shape (n_outputs, n, d)
    features : ndarray of intp
        Those that directions mix.
    count : int

    Returns
    -------
    ndarray of shape (n_features, count at most)
    """
    G = gradients[:, :, features].reshape(-1, len(features))
    found = np.linalg.qr(G[::max(1, len(G) // count)][:count].T)[0]
    for _ in range(ROUNDS):
        found = np.linalg.qr(G.T @ (G @ found))[0]
    return found


def signed(vectors, count):
    """Vectors whose signs agree with their largest coordinate, ndarray of shape (d, count).

    Zeros stand for those that there are not.
    """
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    out = np.zeros((len(vectors), count))
    out[:, :vectors.shape[1]] = vectors * np.where(signs == 0, 1.0, signs)
    return out
