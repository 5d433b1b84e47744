"""Fixed point of exported C, from the tables of a file: whole numbers of NumPy, 64 bits wide.

`Tables` reads the tables of a C file. The functions compute what the sections of `fixed.c` say, for
all rows at once.
"""

import re

import numpy as np

TABLE = re.compile(r"^(?:static )?const \w+ (\w+)\[\d+\] = \{\n(.*?)\n\};$", re.M | re.S)
NUMBER = re.compile(r"(?<![\w.])-?\d+(?=u?\b)")
LITERAL = re.compile(r"INT64_C\((-?\d+)\)")


def tables_of(code):
    """Return the whole numbers of each table of a C file."""
    return {
        name: np.array([int(n) for n in NUMBER.findall(LITERAL.sub(r"\1", body))], dtype=np.int64)
        for name, body in TABLE.findall(code)
    }


def features(X, bits, zeros):
    """Return rows of numbers as rows of features."""
    found = np.rint(np.asarray(X) * np.exp2(bits)) - zeros
    return np.clip(found, -32767, 32767).astype(np.int16)


def half_power(table, t):
    """Return 2^(-t / 2^18) in units of 2^-30."""
    place, within = (t >> 10) & 255, t & 1023
    left, right = table[place], table[place + 1]
    return (left - (((left - right) * within) >> 10)) >> (t >> 18)


def sine(table, angle):
    """Return the sine of an angle in units of 2^-32 turns, in units of 2^-15."""
    within = angle % (1 << 30)
    t = np.where(angle & (1 << 30), (1 << 30) - within, within)
    low, high = table[t >> 22], table[(t >> 22) + 1]
    value = low + (((high - low) * ((t >> 7) & 0x7FFF) + 16384) >> 15)
    return np.where(angle & (1 << 31), -value, value)


def shifted(sums, bits, more):
    """Return sums of so many bits behind the point as those of `more`, rounded."""
    gap = bits - more
    return (sums + (1 << (gap - 1))) >> gap if gap > 0 else sums << -gap


def linear(weights, Q):
    """Return the sums of a linear term, weights (n_outputs, n_features)."""
    return Q.astype(np.int64) @ weights.T


def kernel(table, vectors, steps, Q, squared, factor, shift, limit):
    """Return the kernel values of rows with vectors, in units of 2^-30."""
    rows = Q.astype(np.int64)
    if steps is not None:
        rows = (rows * steps + 16384) >> 15
    gaps = rows[:, np.newaxis] - vectors
    p = (gaps**2 if squared else np.abs(gaps)).sum(axis=2)
    # Python's integers hold any product.
    t = np.array([[int(one) * factor >> shift for one in row] for row in np.minimum(p, limit - 1)])
    return np.where(p >= limit, 0, half_power(table, t))


def fourier(table, frequencies, phases, weights, Q):
    """Return the sums of a term of Fourier features, weights (n, n_outputs, 2)."""
    angles = (phases + Q.astype(np.int64) @ frequencies.T) % (1 << 32)
    cosines, sines = sine(table, (angles + (1 << 30)) % (1 << 32)), sine(table, angles)
    return cosines @ weights[:, :, 0] + sines @ weights[:, :, 1]
