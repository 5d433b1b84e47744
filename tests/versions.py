"""What some tests need of other packages: marks that name the version."""

from importlib.metadata import version

import pytest
from packaging.version import Version


def needs(package, least, why):
    """Return the mark of a test of what a package does from a version on."""
    old = Version(version(package)) < Version(least)
    return pytest.mark.skipif(old, reason=f"needs {package} {least}: {why}")
