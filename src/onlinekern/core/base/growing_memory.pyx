"""Memory that grows with a stream, without a copy where the system can move pages.

C's `realloc` grows large memory by moving its pages (glibc and musl call `mremap`), so that a call
that needs room for one support vector more does not pay for those before. It promises no alignment.
So there are 64 bytes more than asked for, of which as many lie in front as align the rest; the last
of these bytes says how many. Pages keep these places where they move. Elsewhere the content is
moved by some bytes.
"""
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, realloc
from libc.string cimport memmove, memset

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX

cdef Py_ssize_t ALIGNED = 64


cdef inline Py_ssize_t front_of(const char *begin) noexcept nogil:
    """How many bytes lie in front: one at least."""
    return ALIGNED - <Py_ssize_t> (<uintptr_t> begin % <uintptr_t> ALIGNED)


cdef inline unsigned char *front_noted(void *memory) noexcept nogil:
    """Where it is noted."""
    return <unsigned char *> memory - 1


cdef void *grown(void *old, Py_ssize_t old_count, Py_ssize_t count,
                 Py_ssize_t size) noexcept nogil:
    """Memory of `count` things of `size` bytes, more than before, 64-byte aligned.

    It begins with the old ones; the rest is zero. `old` is NULL or comes from here, and is not to
    be used any more. On failure returns NULL and leaves `old` alone.
    """
    cdef char *begin = NULL
    cdef char *fresh
    cdef Py_ssize_t before = 0, front
    if count < old_count or size < 1 or count > (PY_SSIZE_T_MAX - ALIGNED) // size:
        return NULL
    if old != NULL:
        before = front_noted(old)[0]
        begin = <char *> old - before
    fresh = <char *> realloc(begin, count * size + ALIGNED)
    if fresh == NULL:
        return NULL
    front = front_of(fresh)
    if before > 0 and front != before:
        memmove(fresh + front, fresh + before, old_count * size)
    fresh += front
    front_noted(fresh)[0] = <unsigned char> front
    memset(fresh + old_count * size, 0, (count - old_count) * size)
    return fresh


cdef void free_grown(void *memory) noexcept nogil:
    """Free what `grown` returned, or NULL."""
    if memory != NULL:
        free(<char *> memory - front_noted(memory)[0])
