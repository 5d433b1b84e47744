# Memory of a step. May change at minor versions.
from onlinekern.core.learning.heads cimport Sample, Update


cdef double *room_for(Py_ssize_t n_outputs, Sample *sample, Update *update) except NULL
