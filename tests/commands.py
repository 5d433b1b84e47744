"""What the tests of the command line share."""

import pytest

from onlinekern import cli


def run(capsys, *arguments):
    """Run the entry point; return its exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as ended:
        cli.main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return ended.value.code or 0, captured.out, captured.err
