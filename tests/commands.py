"""The helper that the tests of the command line share."""

import warnings

import pytest

from onlinekern import cli


def run(capsys, *arguments):
    """Run the entry point; return its exit code, standard output and standard error."""
    with warnings.catch_warnings():
        # A program prints its warnings; only tests fail on them. What earlier tests left open is
        # closed at any time.
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", ResourceWarning)
        with pytest.raises(SystemExit) as ended:
            cli.main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return ended.value.code or 0, captured.out, captured.err
