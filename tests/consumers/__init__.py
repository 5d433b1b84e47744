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
    """Return the command that compiles C or (CXX) C++, or (LDSHARED) links; skip without one."""
    usual = ("c++", "g++", "clang++") if kind == "CXX" else ("cc", "gcc", "clang")
    for command in (os.environ.get(kind), sysconfig.get_config_var(kind), *usual):
        if command and shutil.which(shlex.split(command)[0]):
            shared = ["-shared"] if kind == "LDSHARED" and len(shlex.split(command)) == 1 else []
            return shlex.split(command) + shared
    pytest.skip(f"there is no {'C++' if kind == 'CXX' else 'C'} compiler")


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


def build_program(folder, *sources, flags=(), command=None):
    """Compile C or C++ files with the command of docs/c_api.md; return the program's path."""
    check_embeddable()
    python = run(["python3-config", "--includes", "--ldflags", "--embed"], folder).split()
    cpp = sources[0].suffix == ".cpp"
    command = command or compiler("CXX" if cpp else "CC")
    warnings = ["-Wall", "-Wextra", "-Werror", "-pedantic" if cpp else "-Wno-unused-function"]
    files = [str(source) for source in sources]
    program = folder / sources[0].stem
    run(
        [*command, "-O0", *warnings, *flags, *files, f"-I{INCLUDE}", *python, "-lpthread", "-o",
         str(program)],
        folder,
    )  # fmt: skip
    return program


def pkg_config(folder, *options):
    """Return what pkg-config says of the installed library; skip without pkg-config."""
    check_installed()
    if not shutil.which("pkg-config"):
        pytest.skip("there is no pkg-config")
    place = str(INCLUDE / "pkgconfig")
    return run(["pkg-config", *options, "onlinekern"], folder, PKG_CONFIG_PATH=place).strip()
