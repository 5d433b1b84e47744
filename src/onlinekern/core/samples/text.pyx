"""LIBSVM text: lines of ``label [qid:n] index:value ...`` as the arrays of a CSR matrix.

Numbers are parsed to the nearest double. With at most 15 digits and a small power of ten, digits
and power are exact, so one product or quotient is rounded correctly (W. D. Clinger, 1990). With up
to 19 digits, the product with the first 128 bits of the power of five gives the nearest double in
nearly all cases, and detects the others (D. Lemire, 2021). These, and longer numbers, are converted
by Python.
"""
from cpython.bytes cimport PyBytes_AS_STRING
from libc.math cimport isfinite, ldexp
from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

# The largest index: one more is the number of features, which has 31 bits too.
cdef int64_t LARGEST_INDEX = 2147483646
# Integers below are doubles, and so are the powers of ten up to this one.
cdef uint64_t EXACT = 1 << 53
cdef int MOST_EXPONENT = 22
cdef double[23] POWERS
for _exponent in range(23):
    POWERS[_exponent] = 10.0 ** _exponent
# More digits would overflow.
cdef int MOST_DIGITS = 19
# Powers of five from -WIDEST to WIDEST: their first 128 bits, the highest of which is 1, and the
# binary exponents that go with powers of ten.
cdef enum:
    WIDEST = 64
cdef uint64_t[2 * WIDEST + 1] HIGH
cdef uint64_t[2 * WIDEST + 1] LOW
# Bits of a product below those that a double keeps, but for one.
cdef uint64_t BELOW = 0x1ff


def first_bits(object power):
    """The first 128 bits of five to a power, rounded up if it is negative, as two halves."""
    cdef object five = 5, two = 2, value
    value = five ** abs(power)
    if power < 0:
        return divmod(two ** (value.bit_length() + 127) // value + 1, two ** 64)
    return divmod(value * two ** 128 // two ** value.bit_length(), two ** 64)


for _power in range(-WIDEST, WIDEST + 1):
    HIGH[_power + WIDEST], LOW[_power + WIDEST] = first_bits(_power)


cdef inline bint is_blank(char c) noexcept nogil:
    return c == b" " or c == b"\t" or c == b"\r" or c == b"\v" or c == b"\f"


cdef inline bint is_digit(char c) noexcept nogil:
    return b"0" <= c <= b"9"


cdef inline int digit_of(char c) noexcept nogil:
    return c - 48


cdef inline bint ends(char c) noexcept nogil:
    """Whether a word ends before this letter; the text ends with a 0."""
    return is_blank(c) or c == b"\n" or c == b"#" or c == 0


cdef inline uint64_t multiplied(uint64_t a, uint64_t b, uint64_t *low) noexcept nogil:
    """The upper 64 bits of a product; `low` gets the lower ones."""
    cdef uint64_t mask = 0xffffffff
    cdef uint64_t a0 = a & mask, a1 = a >> 32, b0 = b & mask, b1 = b >> 32
    cdef uint64_t inner = a1 * b0 + (a0 * b0 >> 32)
    cdef uint64_t other = a0 * b1 + (inner & mask)
    low[0] = a * b
    return a1 * b1 + (inner >> 32) + (other >> 32)


cdef bint nearest(uint64_t digits, int exponent, double *value) noexcept nogil:
    """Compute the double nearest to digits times a power of ten. Returns False if it is undecided.
    """
    cdef uint64_t low, high, more, rest, mantissa
    cdef int shift = 0, top
    if digits == 0 or not -WIDEST <= exponent <= WIDEST:
        return False
    while digits >> 63 == 0:
        digits <<= 1
        shift += 1
    high = multiplied(digits, HIGH[exponent + WIDEST], &low)
    if high & BELOW == BELOW:
        rest = multiplied(digits, LOW[exponent + WIDEST], &more)
        low += rest
        high += low < rest
        if low + 1 == 0:
            return False
    top = <int> (high >> 63)
    mantissa = high >> (top + 9)
    # Exactly half-way between two doubles, or so close to it that the bits left out matter.
    if low <= 1 and mantissa & 1 and mantissa << (top + 9) == high:
        return False
    mantissa = (mantissa + (mantissa & 1)) >> 1
    # 217706 / 2^16 is log2(10), near enough for its floor.
    value[0] = ldexp(<double> mantissa, ((217706 * exponent) >> 16) + top - shift + 11)
    return True


cdef const char *exponent_of(const char *at, int *exponent) noexcept nogil:
    """Read the digits behind an e; NULL if there are none."""
    cdef bint negative = at[0] == b"-"
    cdef int value = 0
    if at[0] == b"-" or at[0] == b"+":
        at += 1
    if not is_digit(at[0]):
        return NULL
    while is_digit(at[0]):
        value = min(10 * value + digit_of(at[0]), 100_000)
        at += 1
    exponent[0] = -value if negative else value
    return at


cdef const char *number_of(const char *text, double *value) noexcept nogil:
    """Read a finite decimal number; returns where it ends, NULL if there is none."""
    cdef const char *at = text
    cdef bint negative = at[0] == b"-"
    cdef uint64_t digits = 0
    cdef int count = 0, n = 0, exponent = 0, power = 0
    if at[0] == b"-" or at[0] == b"+":
        at += 1
    while is_digit(at[0]):
        if count < MOST_DIGITS:
            digits = 10 * digits + <uint64_t> digit_of(at[0])
            count += digits > 0
        else:
            count = MOST_DIGITS + 1
        n += 1
        at += 1
    if at[0] == b".":
        at += 1
        while is_digit(at[0]):
            if count < MOST_DIGITS:
                digits = 10 * digits + <uint64_t> digit_of(at[0])
                count += digits > 0
                exponent -= 1
            else:
                count = MOST_DIGITS + 1
            n += 1
            at += 1
    if n == 0:
        return NULL
    if at[0] == b"e" or at[0] == b"E":
        at = exponent_of(at + 1, &power)
        if at == NULL:
            return NULL
        exponent += power
    if count > MOST_DIGITS:
        with gil:
            value[0] = converted(text, at)
        return at if isfinite(value[0]) else NULL
    if digits < EXACT and -MOST_EXPONENT <= exponent <= MOST_EXPONENT:
        value[0] = digits * POWERS[exponent] if exponent >= 0 else digits / POWERS[-exponent]
    elif not nearest(digits, exponent, value):
        with gil:
            value[0] = converted(text, at)
        return at if isfinite(value[0]) else NULL
    if negative:
        value[0] = -value[0]
    return at


cdef double converted(const char *first, const char *last):
    """The number that is written from `first` on, before `last`; infinity if it is too large."""
    return float(first[:last - first])


cdef const char *index_of(const char *at, int64_t *index) noexcept nogil:
    """Read a feature index and its colon; NULL if there is none."""
    cdef int64_t value = 0
    if not is_digit(at[0]):
        return NULL
    while is_digit(at[0]):
        value = min(10 * value + digit_of(at[0]), LARGEST_INDEX + 1)
        at += 1
    index[0] = value
    return at + 1 if at[0] == b":" else NULL


cdef const char *query_of(const char *at) noexcept nogil:
    """Skip a query id and what is blank around it; NULL for one that is no number."""
    while is_blank(at[0]):
        at += 1
    if at[0] != b"q":
        return at
    if at[1] != b"i" or at[2] != b"d" or at[3] != b":":
        return NULL
    at += 4
    if at[0] == b"-" or at[0] == b"+":
        at += 1
    if not is_digit(at[0]):
        return NULL
    while is_digit(at[0]):
        at += 1
    return at if ends(at[0]) else NULL


cdef const char *line_of(const char *at, double *label, int32_t *columns, double *values,
                         Py_ssize_t *count) noexcept nogil:
    """Read a line that has a label; NULL if it is not as it must be."""
    cdef int64_t index = 0, last = -1
    at = number_of(at, label)
    if at == NULL or not ends(at[0]):
        return NULL
    at = query_of(at)
    while at != NULL:
        while is_blank(at[0]):
            at += 1
        if ends(at[0]):
            return at
        at = index_of(at, &index)
        if at == NULL or index <= last or index > LARGEST_INDEX:
            return NULL
        at = number_of(at, &values[count[0]])
        if at == NULL or not ends(at[0]):
            return NULL
        columns[count[0]] = <int32_t> index
        last = index
        count[0] += 1
    return NULL


def parse_libsvm(bytes text not None):
    """Whole lines of LIBSVM text as arrays.

    Parameters
    ----------
    text : bytes
        '#' begins a comment. Indices ascend within a line.

    Returns
    -------
    tuple of (labels, values, columns, starts), or None
        ndarrays: of a CSR matrix, float64 and int32, with the file's own indices. None if a line is
        not as it must be, or a number is not finite or an index above 2^31 - 2.
    """
    cdef Py_ssize_t most = text.count(b":"), rows = text.count(b"\n") + 1, n = 0, count = 0
    labels, values = np.empty(rows), np.empty(most)
    columns, starts = np.empty(most, np.int32), np.zeros(rows + 1, np.int32)
    cdef double[::1] label_view = labels
    cdef double[::1] value_view = values
    cdef int32_t[::1] column_view = columns
    cdef int32_t[::1] start_view = starts
    cdef int32_t none = 0
    cdef double nothing = 0
    cdef int32_t *first_column = &column_view[0] if most > 0 else &none
    cdef double *first_value = &value_view[0] if most > 0 else &nothing
    cdef const char *at = PyBytes_AS_STRING(text)
    cdef const char *last = at + len(text)
    if most > LARGEST_INDEX:
        return None
    with nogil:
        while at != NULL and at < last:
            while is_blank(at[0]):
                at += 1
            if not ends(at[0]):
                at = line_of(at, &label_view[n], first_column, first_value, &count)
                n += 1
                start_view[n] = <int32_t> count
            if at != NULL and at[0] == b"#":
                while at < last and at[0] != b"\n":
                    at += 1
            if at != NULL and at < last and at[0] == 0:
                at = NULL
            elif at != NULL:
                at += 1
    if at == NULL:
        return None
    return labels[:n], values[:count], columns[:count], starts[:n + 1]
