"""Rows of a click log, made as fast as they are learnt: numbers and hashed categories as CSR.

A row has 13 numbers, of which up to 45 % are missing, and 26 categories of 3 to a million values,
of which few are frequent. Each number has a feature, and another one that says that it is missing;
each category has 2^bits slots at most, into which its values are hashed. So a row has 39 features
that are not 0. A click comes of a hidden logistic model: effects of single values, of pairs of
values, and of numbers. A row depends on its number alone, so any process can make any rows.

It needs numba.
"""

from functools import cache

import numba
import numpy as np

NUMBERS, CATEGORIES = 13, 26
ENTRIES = NUMBERS + CATEGORIES
# Binary logarithms of the sizes of the categories.
SIZES = np.linspace(2, 20, CATEGORIES).round().astype(np.int64)
# Columns whose values have effects of their own, and pairs of columns that have some together.
SINGLE = np.array([1, 3, 4, 7, 8, 10, 11, 13, 16, 19, 22])
PAIRS = np.array([(2, 6), (5, 9), (0, 14), (4, 10)])
HOLES = np.linspace(0, 0.45, NUMBERS)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
UNIT = 2.0**-64


@cache
def tables():
    """Return normal numbers at equal steps of their distribution, and effects of hashed values."""
    rng = np.random.default_rng(7)
    normal = np.sort(rng.normal(size=4096)).astype(np.float32)
    effects = rng.normal(size=65_536) * (rng.random(65_536) < 0.5)
    return normal, effects


def width(bits):
    """Return the number of features if a category has 2^bits slots at most."""
    return int(2 * NUMBERS + np.sum(1 << np.minimum(SIZES, bits)))


@numba.njit(inline="always")
def mixed(x):
    """Return 64 random bits of a number (splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))


@numba.njit(inline="always")
def category(draw, size):
    """Return a value below 2^size - 1: an octave, then a value of it, both evenly."""
    octave = ((draw >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)
    least = (np.uint64(1) << octave) - np.uint64(1)
    return least + (draw & least)


@numba.njit(inline="always")
def effect(value, column, effects):
    return effects[mixed(value * GOLDEN + np.uint64(column)) >> np.uint64(48)]


@numba.njit(nogil=True, cache=True)
def fill(first, bits, normal, effects, indices, data, chances, clicks):
    """Fill in the rows from number `first` on."""
    codes = np.empty(CATEGORIES, np.uint64)
    numbers = np.empty(NUMBERS, np.float64)
    for row in range(len(clicks)):
        seed = mixed(np.uint64(first + row) * GOLDEN + FIRST)
        at, score = row * ENTRIES, -1.9
        for k in range(NUMBERS):
            seed += GOLDEN
            draw = mixed(seed)
            hole = (draw & np.uint64(0xFFFFFFFF)) * 2.0**-32 < HOLES[k]
            value = np.float32(1) if hole else normal[draw >> np.uint64(52)]
            # The features of the numbers lie together: a number, then its being missing.
            indices[at + k] = 2 * k + hole
            data[at + k] = value
            numbers[k] = np.nan if hole else value
        start = 2 * NUMBERS
        for k in range(CATEGORIES):
            seed += GOLDEN
            codes[k] = value = category(mixed(seed), SIZES[k])
            slots = min(SIZES[k], bits)
            if SIZES[k] > bits:
                value = mixed(value * GOLDEN + np.uint64(k)) >> np.uint64(64 - bits)
            indices[at + NUMBERS + k] = start + np.int64(value)
            data[at + NUMBERS + k] = 1
            start += 1 << slots
        for k in SINGLE:
            score += 0.8 * effect(codes[k], k, effects)
        for k in range(len(PAIRS)):
            pair = codes[PAIRS[k, 0]] * np.uint64(2_000_003) + codes[PAIRS[k, 1]]
            score += 0.8 * effect(pair, 100 + k, effects)
        score += 0.3 if np.isnan(numbers[5]) else 0.36 * numbers[5]
        score += 0.25 if numbers[2] > 0.5 else 0.0
        chances[row] = 1 / (1 + np.exp(-score))
        seed += GOLDEN
        clicks[row] = np.float64(mixed(seed)) * UNIT < chances[row]


def rows(first, n, bits):
    """Return n rows from number `first` on: indices and values (n, 39), chances, clicks."""
    indices = np.empty(n * ENTRIES, np.int32)
    data = np.empty(n * ENTRIES, np.float32)
    chances, clicks = np.empty(n), np.empty(n, np.int8)
    fill(first, bits, *tables(), indices, data, chances, clicks)
    return indices.reshape(n, -1), data.reshape(n, -1), chances, clicks


def matrix(first, n, bits):
    """Return n rows from number `first` on as CSR, and their clicks."""
    from scipy import sparse

    indices, data, _, clicks = rows(first, n, bits)
    pointers = np.arange(0, n * ENTRIES + 1, ENTRIES, dtype=np.int32)
    X = sparse.csr_matrix((n, width(bits)), dtype=np.float32)
    X.indices, X.data, X.indptr = indices.ravel(), data.ravel(), pointers
    X.has_sorted_indices = X.has_canonical_format = True
    return X, clicks


@numba.njit(nogil=True)
def put(buffer, at, number):
    """Put the digits of an integer that is not negative; return the place after them."""
    n_digits, bound = 1, 10
    while number >= bound:
        n_digits, bound = n_digits + 1, 10 * bound
    for place in range(n_digits - 1, -1, -1):
        buffer[at + place] = 48 + number % 10
        number //= 10
    return at + n_digits


@numba.njit(nogil=True, cache=True)
def put_lines(indices, data, clicks, buffer):
    """Put lines of Vowpal Wabbit's text, numbers with four decimals; return their length."""
    at = 0
    for row in range(len(clicks)):
        if not clicks[row]:
            buffer[at] = 45  # -
            at += 1
        buffer[at], buffer[at + 1], buffer[at + 2] = 49, 32, 124  # "1 |"
        at += 3
        for k in range(ENTRIES):
            buffer[at] = 32
            at = put(buffer, at + 1, indices[row, k])
            if k < NUMBERS:
                buffer[at] = 58  # :
                if data[row, k] < 0:
                    at += 1
                    buffer[at] = 45
                whole = np.int64(np.abs(data[row, k]) * 10_000 + 0.5)
                at = put(buffer, at + 1, whole // 10_000)
                # A leading 1 keeps the zeros behind the point; the point takes its place.
                end = put(buffer, at, 10_000 + whole % 10_000)
                buffer[at], at = 46, end
        buffer[at] = 10
        at += 1
    return at


def text(first, n, bits):
    """Return n rows from number `first` on as text of Vowpal Wabbit; features are numbers."""
    indices, data, _, clicks = rows(first, n, bits)
    buffer = np.empty(n * ENTRIES * 18, np.uint8)
    return buffer[: put_lines(indices, data, clicks, buffer)].tobytes()
