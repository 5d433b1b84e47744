"""Components: what a model is composed of.

The loop calls the methods of components without the GIL, so they cannot raise. A method that
a subclass must define writes its own name into `missing` in the base class; the model raises
NotImplementedError with this name when the call ends.
"""


# Python methods that the library calls.
CALLED = ("components", "get_learnt", "get_state", "set_learnt", "nbytes")


cdef class Component:
    """Base of everything that a model is composed of.

    A base class that is never a component itself has an attribute `abstract`. A class that owns
    memory or holds other objects takes its arguments in ``__cinit__``, so that no object exists
    without them. A class whose subclasses add arguments takes them in ``__init__``, and must be
    safe if that is not called.
    """

    cdef int check_defined(self) except -1:
        """Raise NotImplementedError if a method was called that the class does not define."""
        cdef const char *missing = self.missing
        if missing != NULL:
            self.missing = NULL
            raise NotImplementedError(f"{type(self).__name__} does not define {missing.decode()}")
        return 0

    def components(self):
        """The components that this one holds, as a tuple."""
        return ()


def components_of(*roots):
    """The components `roots`, and those that they hold at any depth, as a list.

    Raises
    ------
    TypeError
        For a component whose class is a base class only, or is written in Python and has methods
        that the core would never call.
    """
    found = list(roots)
    for component in found:
        if not isinstance(component, Component):
            raise TypeError(f"a component of a model must be a Component, got {component!r}; "
                            "was a part made without its arguments?")
        check_class(type(component))
        found += component.components()
    return found


def check_class(cls):
    """Raise TypeError if an instance of the class cannot be a component of a model."""
    if "abstract" in vars(cls):
        raise TypeError(f"{cls.__name__} is a base class: a model needs a subclass of it")
    # A class compiled by Cython has a vtable in its dictionary, a class written in Python has none.
    compiled = next(base for base in cls.__mro__ if "__pyx_vtable__" in vars(base))
    for base in cls.__mro__[:cls.__mro__.index(compiled)]:
        for name, value in vars(base).items():
            known = name in CALLED or (name.startswith("__") and name != "__call__")
            if callable(value) and not known:
                raise TypeError(
                    f"{base.__name__}.{name} would never be called: the core calls compiled "
                    f"methods only. Write {base.__name__} in Cython, as docs/extending.md shows"
                )


def refuse_attributes(compiled):
    """Raise TypeError: the state of a compiled object is not in attributes.

    For the `__getstate__` of classes whose objects a function restores. Pickle and copy call
    `__reduce__`. skops would call `__getstate__`, which returns None by default, and then make an
    object without state.
    """
    raise TypeError(
        f"{type(compiled).__name__} has no attributes to be saved by: save the model with its "
        "method save, which onlinekern.load reads, or with pickle"
    )


cdef int check_no_arguments(type cls, tuple args, dict kwargs) except -1:
    """Raise TypeError if a class without `__init__` is given arguments.

    Python would ignore them, because `__cinit__` accepts any arguments for subclasses.
    """
    if (args or kwargs) and cls.__init__ is object.__init__:
        raise TypeError(f"{cls.__name__}() takes no arguments")
    return 0


cdef class Part(Component):
    """A small immutable component: a loss, a rule, a kernel, ...

    It is determined by the arguments of its constructor, by which it is pickled, compared and
    printed.

    Attributes
    ----------
    arguments : tuple
        The positional constructor arguments; a subclass sets it in ``__init__``.
    """

    def __cinit__(self, *args, **kwargs):
        check_no_arguments(type(self), args, kwargs)
        self.arguments = ()

    def components(self):
        return tuple(part for part in self.arguments if isinstance(part, Component))

    def __reduce__(self):
        return type(self), self.arguments

    def __eq__(self, other):
        return type(self) is type(other) and self.arguments == (<Part> other).arguments

    def __hash__(self):
        return hash((type(self), self.arguments))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self.arguments))})"


class Frozen:
    """A snapshot: it pickles and copies as the object that it was made from, as it was then."""

    def __init__(self, reduced):
        self.reduced = reduced

    def __reduce__(self):
        return self.reduced


def frozen(value, made):
    """Replace mutable objects of the core in a value by snapshots.

    Parameters
    ----------
    value : object
        Arrays in the states of objects are copies already.
    made : dict
        Snapshots so far, by identity of the object: shared objects stay shared.
    """
    if isinstance(value, tuple):
        return tuple(frozen(item, made) for item in value)
    if isinstance(value, list):
        return [frozen(item, made) for item in value]
    if isinstance(value, dict):
        return {key: frozen(item, made) for key, item in value.items()}
    of_core = isinstance(value, Component) or type(value).__module__.startswith("onlinekern.core.")
    if isinstance(value, (type, Part, Frozen)) or not of_core:
        return value
    if id(value) not in made:
        function, *rest = value.__reduce_ex__(4)
        # Keep the object alive, so that no other object gets its identity.
        made[id(value)] = Frozen((function, *frozen(tuple(rest), made))), value
    return made[id(value)][0]
