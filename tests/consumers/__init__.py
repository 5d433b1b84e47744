"""Build programs on the installed library, as other packages do.

They need a C compiler, Python's headers, Cython, and a library that is not an editable install:
only a real install has its headers and .pxd files in one place.
"""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import onlinekern

HERE = Path(__file__).parent
INCLUDE = Path(onlinekern.get_include())


def run(command, folder, **environment):
    """Run a command in a folder, with this Python's tools first in PATH; return its output."""
    tools = [Path(sys.executable).parent, Path(sys.base_prefix) / "bin"]
    path = os.pathsep.join([*map(str, tools), os.environ.get("PATH", "")])
    process = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        shell=isinstance(command, str),
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert process.returncode == 0, f"{command}\n{process.stdout}\n{process.stderr}"
    return process.stdout


def compiler(kind="CC"):
    """Return the command that compiles, or with "LDSHARED" links; skip without a compiler."""
    for command in (os.environ.get(kind), sysconfig.get_config_var(kind), "cc", "gcc", "clang"):
        if command and shutil.which(shlex.split(command)[0]):
            shared = ["-shared"] if kind == "LDSHARED" and len(shlex.split(command)) == 1 else []
            return shlex.split(command) + shared
    pytest.skip("there is no C compiler")


def check_installed():
    """Skip if the library is an editable install."""
    compiler()
    if not (INCLUDE / "onlinekern" / "capi_api.h").exists():
        pytest.skip(f"no capi_api.h in {INCLUDE}: an editable install has its headers elsewhere")
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        pytest.skip("the headers of Python are not installed")


def build_extension(name, folder):
    """Compile a .pyx of this folder into another folder, and import it."""
    check_installed()
    run(
        [sys.executable, "-m", "cython", "-3", str(HERE / f"{name}.pyx"), "-o", f"{name}.c"], folder
    )
    library = folder / (name + sysconfig.get_config_var("EXT_SUFFIX"))
    includes = [f"-I{sysconfig.get_path('include')}", f"-I{INCLUDE}"]
    # -O0 builds quickly, and nothing here runs long.
    flags = ["-O0", *shlex.split(sysconfig.get_config_var("CCSHARED") or "-fPIC")]
    run([*compiler("LDSHARED"), *flags, *includes, f"{name}.c", "-o", str(library)], folder)
    specification = importlib.util.spec_from_file_location(name, library)
    module = importlib.util.module_from_spec(specification)
    # Where pickle looks for the classes of a module.
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def check_embeddable():
    """Skip if a C program cannot embed this Python."""
    check_installed()
    if not shutil.which("python3-config", path=str(Path(sys.base_prefix) / "bin")):
        pytest.skip("there is no python3-config: Python cannot be embedded")


def build_program(source, folder):
    """Compile a C program with the command of docs/c_api.md; return its path."""
    check_embeddable()
    flags = run(["python3-config", "--includes", "--ldflags", "--embed"], folder).split()
    command = [*compiler(), "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    command += [str(source), f"-I{INCLUDE}", *flags, "-lpthread", "-o", source.stem]
    run(command, folder)
    return folder / source.stem
