"""Functions of a C file: removing those that nothing calls, and adding a `model` parameter.

The templates use names such as `values[j]` as if there were only one model. This module adds a
parameter `model` to each function that uses such a name, directly or through other functions. The
names become `model->state.values[j]` (state, which learning changes) or `model->features[j]`
(working memory, which each call overwrites). So functions have no memory of their own, and several
threads can each use their own model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

UNIT_END = re.compile(r"(?<=\n}\n)")
STATIC = re.compile(r"^static [\w ]+ \*?(\w+)\(", re.M)
SIGNATURE = re.compile(r"^((?:static )?(?:const )?\w+ \*?)(\w+)\(([^)]*)\)(?=\n{)", re.M)
# Comments and members of structures are matched first, so that they stay as they are.
WORD = re.compile(r"/\*.*?\*/|(?:->|\.)\s*\w+|\b[A-Za-z_]\w*\b", re.S)
CALL = re.compile(rf"({WORD.pattern})(\(\)?)?", re.S)
TYPES = "real double float int int32_t int64_t uint64_t uint32_t row target_type"
DECLARATION = re.compile(
    rf"(?:^|[({{;])\s*(?:const )?(?:{'|'.join(TYPES.split())})\s+\*?(\w[^;]*);", re.M
)
NESTED = re.compile(r"\([^()]*\)|\[[^][]*\]|{[^{}]*}")
LINE = 100


class Function(NamedTuple):
    """Public function with a model parameter."""

    type: str
    name: str
    parameters: str


def called(blocks: list[str]) -> list[str]:
    """Return the functions in these texts, without static ones that no other function names."""
    units = [unit for block in blocks for unit in UNIT_END.split(block) if unit.strip()]
    while True:
        kept = [unit for unit in units if is_called(unit, units)]
        if len(kept) == len(units):
            return kept
        units = kept


def is_called(unit: str, units: list[str]) -> bool:
    """Return whether a function is not static, or another one names it."""
    found = STATIC.search(unit)
    if found is None:
        return True
    name = re.compile(rf"\b{found[1]}\b")
    return any(name.search(other) for other in units if other is not unit)


def with_model(
    units: Sequence[str],
    prefix: str,
    state: Sequence[str],
    scratch: Sequence[str],
    more: Iterable[str] = (),
) -> tuple[list[str], list[Function]]:
    """Return the functions with the model as a parameter, and the public ones among them.

    A public function with the parameter gets the ending `_r`. The name without it belongs to the
    function for the shared model. The functions in `more` get the parameter in any case.
    """
    places = {name: f"model->state.{name}" for name in state}
    places |= {name: f"model->{name}" for name in scratch}
    units = [unit.lstrip("\n") for unit in units]
    signatures = [SIGNATURE.search(unit) for unit in units]
    names = [found[2] if found else "" for found in signatures]
    words = [words_of(unit) for unit in units]
    uses = [
        name
        for name, unit, own in zip(names, units, words, strict=True)
        if own & (places.keys() - hidden_in(unit))
    ]
    taking = with_callers({*uses, *more}, names, words)
    changed = [
        of_model(unit, places, taking, prefix) if name in taking else unit
        for name, unit in zip(names, units, strict=True)
    ]
    shared = [
        Function(found[1], found[2], found[3])
        for found in signatures
        if found and found[2] in taking and not found[1].startswith("static")
    ]
    return changed, shared


def with_callers(found: set[str], names: Sequence[str], words: Sequence[set[str]]) -> set[str]:
    """Return these functions and all that call them, directly or indirectly.

    `words` has the names that each function of `names` uses.
    """
    while True:
        callers = {name for name, own in zip(names, words, strict=True) if own & found} - found
        if not callers:
            return found
        found = found | callers


def words_of(unit: str) -> set[str]:
    """Return the names in a function, without members of structures."""
    return {word for word in WORD.findall(unit) if word[0].isalpha() or word[0] == "_"}


def hidden_in(unit: str) -> set[str]:
    """Return the names that a function declares, including parameters."""
    code = re.sub(r"/\*.*?\*/", "", unit, flags=re.S)
    found = SIGNATURE.search(code)
    lists = [found[3]] if found else []
    for declarators in DECLARATION.findall(code[found.end() :] if found else code):
        while NESTED.search(declarators):
            declarators = NESTED.sub("", declarators)
        lists.append(re.sub(r"=[^,]*", "", declarators))
    return {re.findall(r"\w+", own)[-1] for text in lists for own in text.split(",") if own.strip()}


def of_model(unit: str, places: dict[str, str], taking: set[str], prefix: str) -> str:
    """Return a function with the model parameter; `places` says where the model holds each name."""
    own = {name: place for name, place in places.items() if name not in hidden_in(unit)}

    def replaced(match: re.Match[str]) -> str:
        word, call = match[1], match[2] or ""
        if word not in taking:
            return own.get(word, word) + call
        return renamed(word, prefix) + {"()": "(model)", "(": "(model, "}.get(call, "")

    found = SIGNATURE.search(unit)
    assert found is not None
    parameters = "" if found[3] == "void" else f", {found[3]}"
    head = wrapped(f"{found[1]}{renamed(found[2], prefix)}({prefix}_t *model{parameters})")
    body = CALL.sub(replaced, unit[found.end() :])
    return unit[: found.start()] + head + body


def renamed(name: str, prefix: str) -> str:
    """Return the name of a function after it gets the model parameter."""
    return f"{name}_r" if name.startswith(f"{prefix}_") else name


def wrapped(head: str) -> str:
    """Return the head of a function, broken into lines of at most `LINE` characters."""
    lines, indent = [" ".join(head.split())], " " * (head.index("(") + 1)
    while len(lines[-1]) > LINE:
        cut = lines[-1].rindex(", ", 0, LINE) + 1
        lines[-1:] = [lines[-1][:cut], indent + lines[-1][cut:].strip()]
    return "\n".join(lines)


def wrappers(shared: Sequence[Function]) -> str:
    """Return the functions without a model parameter, which use the shared model."""
    found = []
    for function in shared:
        names = [re.findall(r"\w+", part)[-1] for part in function.parameters.split(",")]
        found.append(
            f"{wrapped(f'{function.type}{function.name}({function.parameters})')}\n{{\n"
            f"    return {function.name}_r(shared_model(), {', '.join(names)});\n}}\n"
        )
    return "\n".join(found)
