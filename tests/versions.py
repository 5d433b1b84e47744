"""What some tests need of other packages: marks that name the version."""

from importlib.metadata import PackageNotFoundError, version

import pytest
from packaging.version import Version


def is_older(package, least):
    """Return whether a package is there in a version before this one."""
    try:
        return Version(version(package)) < Version(least)
    except PackageNotFoundError:
        return False


def needs(package, least, why):
    """Return the mark of a test of what a package, if it is there, does from a version on."""
    return pytest.mark.skipif(is_older(package, least), reason=f"needs {package} {least}: {why}")
