"""Code in an interpreter of its own, which finds the installed package (-P)."""

import os
import subprocess
import sys


def python(code, *arguments, env=None, **options):
    """Run code with arguments, and environment variables more; return how it ended, as text."""
    command = [sys.executable, "-P", "-c", code, *map(str, arguments)]
    environment = {**os.environ, **(env or {})}
    return subprocess.run(command, capture_output=True, text=True, env=environment, **options)


def python_without(package, code, *arguments, **options):
    """Run code where a package is not installed."""
    return python(f"import sys; sys.modules[{package!r}] = None; {code}", *arguments, **options)


def lines_of(code, *arguments, **options):
    """Return the lines that code prints, which ends well."""
    done = python(code, *arguments, timeout=240, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
