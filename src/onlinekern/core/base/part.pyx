"""The root of the parts that a model is composed of: losses, rules, kernels, budgets, ...

A part is a small immutable object: all that it is follows from its constructor's
arguments, so a part pickles, compares and prints through them.
"""

cdef class Part:
    """Base of every part.

    Attributes
    ----------
    arguments : tuple
        The positional constructor arguments; a subclass sets it in ``__init__``.
    """

    def __cinit__(self, *args, **kwargs):
        self.arguments = ()

    def __reduce__(self):
        return type(self), self.arguments

    def __eq__(self, other):
        return type(self) is type(other) and self.arguments == (<Part> other).arguments

    def __hash__(self):
        return hash((type(self), self.arguments))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self.arguments))})"
