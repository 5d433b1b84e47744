"""The loops of forests in C, for the instruction set that `base.vector` has chosen."""
from onlinekern.core.base.vector import level

cdef bytes name = level().encode()
cdef const ok_forest_table *table = ok_forest_select(<const char *> name)
if table == NULL:
    raise ImportError(f"forests have no loops for the instruction set {name.decode()}")


cdef const ok_forest_table *forest_loops() noexcept nogil:
    """The table for this processor."""
    return table
