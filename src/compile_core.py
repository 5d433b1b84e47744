"""Compile the .pyx files of the core to C, in one process for each processor.

A process of its own for each file would spend most of its time importing Cython. A file is compiled
again only when its text, or that of a .pxd file it depends on, has changed.

usage: compile_core.py SOURCE_FOLDER OUTPUT_FOLDER MODULES LEVEL WHOLE -- CYTHON_ARGUMENTS

MODULES is a comma-separated list of dotted names below onlinekern.core. LEVEL is an optimisation
level of GCC ("Og") for what is not on a sample's way (lower_level.py), or "none"; WHOLE names the
modules that it does not concern.
"""

import gc
import hashlib
import json
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path

from lower_level import lowered

LOWERED = Path(__file__).with_name("lower_level.py").read_text(encoding="utf-8")
CIMPORT = re.compile(r"^\s*(?:from|cimport)\s+onlinekern\.core\.([\w.]+)", re.M)


def declarations_below(text, core, seen):
    """Collect the .pxd files that a text depends on."""
    for dotted in CIMPORT.findall(text):
        path = core.joinpath(*dotted.split("."))
        # Of a package it may be any: `from onlinekern.core.kernels cimport window`.
        found = path.glob("*.pxd") if path.is_dir() else [path.with_suffix(".pxd")]
        for declared in found:
            if declared not in seen and declared.exists():
                seen.add(declared)
                declarations_below(declared.read_text(encoding="utf-8"), core, seen)
    return seen


def digest_of(source, core, arguments):
    """Hash of everything that the C file of a module follows from."""
    own = source.with_suffix(".pxd")
    texts = [source.read_text(encoding="utf-8")]
    texts += [own.read_text(encoding="utf-8")] if own.exists() else []
    files = declarations_below("".join(texts), core, set())
    texts += [path.read_text(encoding="utf-8") for path in sorted(files)]
    return hashlib.sha256("\0".join([version("cython"), *arguments, *texts]).encode()).hexdigest()


def compile_one(module, source, output, level, arguments):
    """Compile one module as the command `cython` does. Returns its name when it succeeded."""
    from Cython.Compiler.CmdLine import parse_command_line
    from Cython.Compiler.Main import compile

    name = f"onlinekern.core.{module}"
    options, sources = parse_command_line(
        [*arguments, "--module-name", name, str(source), "-o", str(output)]
    )
    if compile(sources, options).num_errors:
        return None
    if level != "none":
        text = output.read_text(encoding="utf-8")
        output.write_text(lowered(text, level), encoding="utf-8")
    return module


def main():
    split = sys.argv.index("--")
    sources, out, names, low, whole = sys.argv[1:split]
    arguments = sys.argv[split + 1 :]
    core, out = Path(sources, "onlinekern", "core"), Path(out)
    known_file = out / "core_digests.json"
    known = json.loads(known_file.read_text()) if known_file.exists() else {}
    digests, jobs = {}, []
    for module in names.split(","):
        source = core.joinpath(*module.split(".")).with_suffix(".pyx")
        output = out / f"{source.stem}.c"
        level = "none" if module in whole.split(",") else low
        digests[module] = digest_of(source, core, [LOWERED, level, *arguments])
        if digests[module] != known.get(module) or not output.exists():
            jobs.append((module, source, output, level, arguments))
    # The long ones first, so that no processor is left with one of them at the end.
    jobs.sort(key=lambda job: -job[1].stat().st_size)
    done = set(digests) - {job[0] for job in jobs}
    if jobs:
        # A third of Cython's time would go by in looking for circles of garbage. A module leaves
        # 13 MB of them behind.
        most = min(len(jobs), os.cpu_count() or 1)
        with ProcessPoolExecutor(most, initializer=gc.disable) as workers:
            done |= set(workers.map(compile_one, *zip(*jobs, strict=True)))
    known_file.write_text(json.dumps({m: d for m, d in digests.items() if m in done}))
    failed = sorted(digests.keys() - done)
    return f"{len(failed)} modules do not compile: {', '.join(failed)}" if failed else 0


if __name__ == "__main__":
    sys.exit(main())
