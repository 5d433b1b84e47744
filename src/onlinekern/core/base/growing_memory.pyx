"""Memory that grows with a stream, without a copy if the system can remap pages.

C's `realloc` grows large memory by remapping its pages (glibc and musl call `mremap`). So a call
that needs memory for one more support vector does not copy all others. `realloc` does not promise
alignment, so 64 bytes more are allocated, and some of them are left free in front to align the
rest. The last free byte stores their number. Remapped pages keep this offset; otherwise the content
is moved by some bytes.
"""
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, realloc
from libc.string cimport memmove, memset

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX

cdef Py_ssize_t ALIGNED = 64


cdef inline Py_ssize_t front_of(const char *begin) noexcept nogil:
    """Number of free bytes in front: one at least."""
    return ALIGNED - <Py_ssize_t> (<uintptr_t> begin % <uintptr_t> ALIGNED)


cdef inline unsigned char *front_noted(void *memory) noexcept nogil:
    """The byte that stores this number."""
    return <unsigned char *> memory - 1


cdef void *grown(void *old, Py_ssize_t old_count, Py_ssize_t count,
                 Py_ssize_t size) noexcept nogil:
    """Grow memory to `count` items of `size` bytes, 64-byte aligned.

    It begins with the old items; the rest is zero. `old` is NULL or a result of this function, and
    may not be used any more. On failure returns NULL and does not change `old`.
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
