"""A free-threaded interpreter keeps its GIL off when it imports the library."""

import subprocess
import sys
import sysconfig

import pytest

IMPORT_ALL = """
import pkgutil, sys
import onlinekern.core
for module in pkgutil.walk_packages(onlinekern.core.__path__, "onlinekern.core."):
    __import__(module.name)
print(sys._is_gil_enabled())
"""


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="the interpreter has a GIL"
)
def test_import_leaves_the_gil_off():
    # Python warns of the module that turns the GIL on: the warning names it here.
    command = [sys.executable, "-P", "-W", "error::RuntimeWarning", "-c", IMPORT_ALL]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("False\n", "")
