"""Compile the C sources of the benchmarks when they are needed."""

import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path


def compiled(source, *include, load=ctypes.PyDLL):
    """Compile a C file with the system's C compiler (variable CC) at -O2, and load it.

    Parameters
    ----------
    source : path
    *include : path
        Folders of headers.
    load : ctypes.PyDLL or ctypes.CDLL
        Functions are called with the GIL, or without it.

    Returns
    -------
    ctypes.CDLL

    Raises
    ------
    NotImplementedError
        If there is no compiler; asv notes the case as not applicable.
    """
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if shutil.which(compiler[0]) is None:
        raise NotImplementedError(f"no C compiler: {compiler[0]}")
    folders = [f"-I{folder}" for folder in include]
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / f"{Path(source).stem}.so"
        command = [*compiler, "-O2", "-shared", "-fPIC", *folders, "-o", library, source, "-lm"]
        subprocess.run(command, check=True)
        return load(str(library))
