"""Races of targets that learn no twins of them."""

from dataclasses import replace

from onlinekern.learners.race import experts


def without_twins(monkeypatch, of_forests=True, of_kernels=True):
    """Let new races, until the test ends, have no twins of targets in forests, or in kernels."""
    if of_kernels:
        kernels = tuple(replace(kind, twin=False) for kind in experts.MEASURED)
        monkeypatch.setattr(experts, "MEASURED", kernels)
    if of_forests:
        forests = tuple(replace(kind, twin=False) for kind in experts.FORESTS["regression"])
        monkeypatch.setitem(experts.FORESTS, "regression", forests)
