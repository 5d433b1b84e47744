# Who may use a model now: one writer, or any number of readers. May change at minor versions.

cdef class Lock:
    cdef unsigned long owner      # the thread that has the lock; 0: nobody
    cdef unsigned long last       # the thread that had the lock
    cdef long depth               # calls of the owner, one inside the other
    cdef long waiting             # threads
    cdef long forks               # of the process when the lock was last looked at

    cdef int take(self) except -1
    cdef void give(self) noexcept
    cdef int wait(self, unsigned long me) except -1


cdef class Access:
    cdef long state               # readers, and WRITING if there is a writer
    cdef unsigned long writer
    cdef long waiting             # readers that wait
    cdef long forks
    cdef bint broken

    cdef int begin_reading(self) except -1
    cdef void end_reading(self) noexcept
    cdef int begin_writing(self, unsigned long me) except -1
    cdef void end_writing(self) noexcept
    cdef int renew(self) except -1
    cdef int check_other_thread(self) except -1
    cdef int wait_to_read(self) except -1
    cdef int wait_to_write(self, unsigned long me) except -1


cdef class Writing:
    cdef Lock lock
    cdef Access access


cdef class Reading:
    cdef Access access


cdef int begin_writing(Lock lock, Access access) except -1
cdef void end_writing(Lock lock, Access access) noexcept
cdef bint claim(int *flag) noexcept nogil
