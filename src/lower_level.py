"""Lower the optimisation of what is not on a sample's way: half of the C compiler's time.

Of the C that Cython writes, a fifth runs for samples. The rest runs once a call or once an import:
wrappers that take Python's arguments apart, constructors, states, the making of types, Cython's own
functions. GCC takes the level from a pragma, function by function. The flag that numbers depend on
is repeated in the pragma: a level may bring the defaults of other flags with it.
"""

import re

BODY = "/* #### Code section: module_code ### */\n"
TYPES = "/* #### Code section: module_exttypes ### */\n"
LOW = '#pragma GCC push_options\n#pragma GCC optimize ("{level}", "fp-contract=off")\n'
HIGH = "#pragma GCC pop_options\n"
END = "  /* function exit code */\n"
HEAD = re.compile(r"static .*\b__pyx_\w+\(.*\) \{\n")
# A C function of the core that returns no Python object: what runs for samples is among them.
CORE = re.compile(r"static (?:(?!PyObject|struct __pyx_obj_)[^(])*__pyx_f_")
# A loop of the source: over numbers, while, over a Python iterable.
LOOP = re.compile(r"^ +(?:for \(__pyx_t_|while \(1\)|for \(;;\))", re.MULTILINE)


def lowered(text, level):
    """Return C code with a level for all but loops and what the core's own functions compute.

    A file in which a function's end is not found, as another Cython may write it, stays as it is.
    """
    before, body, after = text.partition(BODY)
    functions, types, after = after.partition(TYPES)
    parts, function, ends = [], [], False
    for line in functions.splitlines(keepends=True):
        if not function and not HEAD.fullmatch(line):
            parts.append(line)
            continue
        function.append(line)
        ends = ends or line == END
        if ends and line == "}\n":
            whole = "".join(function)
            high = CORE.match(function[0]) or LOOP.search(whole)
            parts.append(HIGH + whole + LOW.format(level=level) if high else whole)
            function, ends = [], False
    if not types or function:
        return text
    rest = types + after + HIGH
    return before + body + LOW.format(level=level) + "".join(parts) + rest
