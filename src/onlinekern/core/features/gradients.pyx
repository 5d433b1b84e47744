"""KernelGradients: the gradients of kernel least squares, which tell where a function changes.

f(x) = sum_j a_j exp(-gamma |x - c_j|^2_M) + b . x + b_0 is fitted to rows with landmarks c_j among
them, where |x|^2_M = sum_j M_j x_j^2 is the norm of a diagonal metric M. The mean square of the
gradient along each feature, and the mean of its outer product (the average gradient outer product,
AGOP), are what a metric or a cut is learnt from (Radhakrishnan, Beaglehole, Pandit and Belkin
2024).
"""
import numpy as np
from scipy.linalg import LinAlgError, solve

# The weight of the linear part: it is to take what is linear, and to leave the rest to the kernel.
LINEAR = 0.3
# More features have no linear part and no directions, which cost their cube.
MOST_LINEAR = 1000
# A prior precision, in units of the noise's, and what makes it definite where rows are equal.
RIDGE = 0.05
JITTER = 1e-6
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


class KernelGradients:
    """Kernel least squares of rows, and its gradients.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        In units of the spread of each feature.
    Y : ndarray of shape (n, n_outputs)
    landmarks : ndarray of shape (m,), intp
        Rows that are landmarks.
    metric : ndarray of shape (d,)
    gamma : float
    """

    def __init__(self, X, Y, landmarks, metric, gamma):
        self.root, self.gamma = np.sqrt(metric), gamma
        self.X = X * self.root
        self.C = self.X[landmarks]
        self.kernel = kernel_rows(self.X, self.C, gamma)
        d = X.shape[1]
        self.linear = LINEAR / np.sqrt(d) if d <= MOST_LINEAR else 0.0
        parts = [self.kernel, np.ones((len(X), 1))]
        if self.linear:
            parts.insert(1, self.linear * X)
        features = np.hstack(parts)
        m = len(landmarks)
        A = features.T @ features
        A[:m, :m] += RIDGE * self.kernel[landmarks]
        A[np.diag_indices_from(A)] += RIDGE * np.where(np.arange(len(A)) < m, JITTER, 1.0)
        try:
            weights = solve(A, features.T @ Y, assume_a="pos", check_finite=False)
        except LinAlgError:
            weights = np.linalg.lstsq(A, features.T @ Y, rcond=None)[0]
        self.weights = weights[:m]
        self._gradients = None
        self.slopes = self.linear * weights[m:m + d] if self.linear else np.zeros((d, Y.shape[1]))

    def of_output(self, k):
        """Gradients of output k at the rows, ndarray of shape (n, d)."""
        pull = -2 * self.gamma * self.kernel * self.weights[:, k]
        moved = pull.sum(axis=1)[:, None] * self.X - pull @ self.C
        return moved * self.root + self.slopes[:, k]

    @property
    def gradients(self):
        """Gradients of all outputs, a list of ndarrays of shape (n, d)."""
        if self._gradients is None:
            self._gradients = [self.of_output(k) for k in range(self.weights.shape[1])]
        return self._gradients

    def squares(self, directions=None):
        """Squares of the slopes at the rows, summed over the outputs.

        Parameters
        ----------
        directions : ndarray of shape (d, n_directions), optional
            Default the axes.

        Returns
        -------
        ndarray of shape (n, n_directions)
        """
        along = self.gradients if directions is None else [
            slopes @ directions for slopes in self.gradients]
        return sum(slopes * slopes for slopes in along)

    def outer_product(self):
        """Mean outer product of the gradients, summed over the outputs, ndarray (d, d)."""
        return sum(slopes.T @ slopes for slopes in self.gradients) / len(self.X)


def kernel_rows(X, C, gamma):
    """exp(-gamma |x - c|^2) of rows and landmarks, ndarray of shape (n, m)."""
    squares = (X * X).sum(axis=1)[:, None] + (C * C).sum(axis=1) - 2 * X @ C.T
    np.maximum(squares, 0.0, out=squares)
    squares *= -gamma
    return np.exp(squares, out=squares)


def leading_directions(matrix, count):
    """Eigenvectors of the largest eigenvalues of a symmetric matrix, ndarray of shape (d, count).

    Their signs are made to agree with the largest coordinate. Zeros stand for those that there are
    not.
    """
    _, vectors = np.linalg.eigh(matrix)
    leading = vectors[:, ::-1][:, :count]
    largest = np.abs(leading).argmax(axis=0)
    signs = np.sign(leading[largest, np.arange(leading.shape[1])])
    out = np.zeros((len(matrix), count))
    out[:, :leading.shape[1]] = leading * np.where(signs == 0, 1.0, signs)
    return out
