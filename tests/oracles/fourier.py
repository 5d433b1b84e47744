"""Frequencies of random Fourier features that no matrix holds: hashed, and by Hadamard matrices.

G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014: number n
of splitmix64 is a function of the seed and n. F. X. Yu, A. T. Suresh, K. Choromanski, D.
Holtmann-Rice, S. Kumar, "Orthogonal random features", NIPS 2016, section 4.
"""

import math

import numpy as np

WORD = 2**64


def splitmix(seed, n):
    """Number n = 0, 1, ... of the random integers of splitmix64 from a seed."""
    z = (seed + (n + 1) * 0x9E3779B97F4A7C15) % WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
    return z ^ z >> 31


def hashed_frequencies(table, seed, n_components, columns):
    """Return the frequencies in some columns, (n_components, len(columns)).

    Frequency j is lane j mod 64 of panel j // 64. The hash of a column and a panel is the product
    of their random numbers; its first bit is a sign, the next ones are a row of the table.
    """
    bits = int(math.log2(len(table)))
    out = np.empty((n_components, len(columns)))
    for j in range(n_components):
        panel, lane = divmod(j, 64)
        multiplier = splitmix(WORD - 1 - seed, panel) | 1
        for k, column in enumerate(columns):
            code = splitmix(seed, int(column)) * multiplier % WORD
            row = (code >> (63 - bits)) % len(table)
            out[j, k] = table[row, lane] * (-1 if code >> 63 else 1)
    return out


def hadamard(n):
    """Return the Hadamard matrix of Sylvester's construction, n a power of two."""
    return np.array([[(-1) ** (i & j).bit_count() for j in range(n)] for i in range(n)])


def structured_frequencies(signs, scales, d):
    """Return the frequencies S H D_1 H D_2 H D_3 of blocks of rows, (len(scales), d).

    `signs` is (3, blocks, rows): those of a sample come first.
    """
    n = signs.shape[2]
    blocks = [
        hadamard(n) @ np.diag(last) @ hadamard(n) @ np.diag(second) @ hadamard(n) @ np.diag(first)
        for first, second, last in signs.transpose(1, 0, 2)
    ]
    return np.concatenate(blocks)[: len(scales), :d] * scales[:, None]
