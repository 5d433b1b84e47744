"""Step sizes eta_t as functions of the 1-based step t."""

import math


def constant(t, eta, power=0.5):
    """Return eta_t = eta."""
    return float(eta)


def invsqrt(t, eta, power=0.5):
    """Return eta_t = eta / sqrt(t)."""
    return eta / math.sqrt(t)


def inverse(t, eta, power=0.5):
    """Return eta_t = eta / t."""
    return eta / t


def power(t, eta, power=0.5):
    """Return eta_t = eta / t^power."""
    return eta / float(t) ** power


SCHEDULES = {
    "constant": constant,
    "invsqrt": invsqrt,
    "inverse": inverse,
    "power": power,
}
