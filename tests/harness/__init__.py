"""Harnesses: many tries of one kind against every estimator or reader, in processes of their own.

    python -P -m harness.MODULE --help        (with the folder tests in PYTHONPATH)

Each has a short form, which the tests run, and a long one, which `.ci/long` runs: the same code,
more tries. A harness ends with a line of figures and exit code 0, or names what it found and ends
with 1.
"""
