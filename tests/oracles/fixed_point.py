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


def bent(table, Q, missing):
    """Return rows with features of heavy tails bent; -32768 is a missing value, if any are."""
    Z = Q.astype(np.int64)
    names = "_bent", "_slopes", "_distances", "_fractions", "_drops"
    for j, slope, start, bits, drop in zip(*map(table, names), strict=True):
        for z in Z:
            if missing and z[j] == -32768:
                continue
            u, one = int(slope) * int(z[j]) + int(start), 1 << int(bits)
            size = one + abs(u)
            turns = size.bit_length() - 1 - int(bits)
            far = turns * one + (size >> turns) - one
            far = (far + (1 << int(drop) >> 1)) >> int(drop)
            z[j] = -far if u < 0 else far
    return Z


def ordered(table, Q):
    """Return rows with the orders of one-hot columns in the place of the first of each group."""
    rows, members, borders = Q.astype(np.int64), table("_members"), table("_borders")
    on = rows[:, members] > table("_middles")
    bases, steps = (
        table(name).reshape(n, -1)
        for name, n in (("_bases", len(borders) - 1), ("_onsets", len(members)))
    )
    Z = rows.copy()
    for base, first, end in zip(bases, borders[:-1], borders[1:], strict=True):
        sums = base + on[:, first:end].astype(np.int64) @ steps[first:end]
        axes = members[first:end][: len(base)]
        Z[:, axes] = np.clip(sums, -32767, 32767)[:, : len(axes)]
    return Z


def filled(table, Q):
    """Return rows of axes, with guesses for -32768, and two columns of each feature with gaps.

    `table` gives the table of a name.
    """
    rows, centers = Q.astype(np.int64), table("_centers")
    Z = np.where(rows == -32768, centers, rows)
    sources, givers = table("_sources"), table("_givers")
    least, most = table("_ends").reshape(-1, 2).T
    differences = np.clip(Z[:, givers], least[givers], most[givers]) - centers[givers]
    sums = table("_starts") + differences @ table("_guesses").reshape(len(sources), -1).T
    guesses = np.clip(sums >> table("_moves"), least[sources], most[sources])
    missing = rows[:, sources] == -32768
    Z[:, sources] = np.where(missing, guesses, Z[:, sources])
    sides = np.where(missing[:, :, None], table("_places").reshape(-1, 2), Z[:, sources, None])
    behind = missing.astype(np.int64) @ table("_missed").reshape(-1, 2)
    return np.hstack([Z, behind]), sides.reshape(len(Q), -1)


def directed(table, Z):
    """Return products of rows of axes with directions."""
    sums = table("_offsets") + Z @ table("_directions").reshape(-1, Z.shape[1]).T
    return np.clip(sums >> table("_shifts"), -32767, 32767)


def trees(table, n_outputs, Z):
    """Return the sums of the leaves of rows."""
    nodes, weights = table("_nodes").reshape(-1, 3), table("_weights").reshape(-1, n_outputs)
    found = np.zeros((len(Z), n_outputs), dtype=np.int64)
    for z, total in zip(Z, found, strict=True):
        first = 0
        for number, size in enumerate(table("_sizes")):
            at, end, leaf = first, first + size, first + number
            while at < end:
                cut, feature, left = nodes[at]
                if z[feature] > cut:
                    at, leaf = at + 1 + left, leaf + 1 + left
                else:
                    at, end = at + 1, at + 1 + left
            total += weights[leaf]
            first += size
    return found
