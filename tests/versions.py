"""What some tests need of other packages: marks that name the version."""

from importlib.metadata import PackageNotFoundError, version

import pytest
from packaging.version import Version


def needs(package, least, why):
    """Return the mark of a test of what a package, if it is there, does from a version on."""
    try:
        old = Version(version(package)) < Version(least)
    except PackageNotFoundError:
        old = False
    return pytest.mark.skipif(old, reason=f"needs {package} {least}: {why}")
