"""Threads: one writer at a time, and any number of readers between its writes.

`Lock` orders the writers. A learning call holds it from its validation to its end, so a call that
fails undoes its own changes only. `Access` excludes readers while the model changes: the writer
holds it during the loop only.

Neither is a lock of the operating system: taking and releasing them costs some nanoseconds, so
learning a single sample takes hardly longer. A thread that must wait sleeps without the GIL, and
checks the lock again after at most a millisecond; it also checks for signals.

In a forked child, only the thread that forked exists. Locks of the other threads are free there. If
one of them was changing the model, the copy in the child is inconsistent, and every use raises.
"""
from cpython.exc cimport PyErr_CheckSignals
from cpython.pythread cimport PyThread_get_thread_ident

cdef extern from *:
    """
    #include <pthread.h>
    #include <time.h>
    static void ok_sleep(long microseconds)
    {
        struct timespec time = {0, microseconds * 1000};
        nanosleep(&time, NULL);
    }
    static long ok_forks = 0;
    static unsigned long ok_forker = 0;
    static void ok_forked(void)
    {
        ok_forks++;
        ok_forker = (unsigned long)pthread_self();
    }
    static void ok_count_forks(void) { pthread_atfork(NULL, NULL, ok_forked); }

    /* The `Access` objects that this thread is reading: a signal handler may interrupt it there. */
    #define OK_READS 64
    static _Thread_local void *ok_read[OK_READS];
    static _Thread_local int ok_reads = 0;
    static long ok_reads_of(const void *access)
    {
        long found = 0;
        for (int i = 0; i < ok_reads && i < OK_READS; i++)
            found += ok_read[i] == access;
        return found;
    }
    static void ok_note_read(void *access)
    {
        if (ok_reads < OK_READS)
            ok_read[ok_reads] = access;
        ok_reads++;
    }
    static void ok_forget_read(const void *access)
    {
        int i = --ok_reads;
        if (i >= OK_READS)
            return;
        void *last = ok_read[i];
        /* Contexts may end in another order than they began. */
        while (i > 0 && ok_read[i] != access)
            i--;
        ok_read[i] = last;
    }

    #define ok_load(address) __atomic_load_n(address, __ATOMIC_ACQUIRE)
    #define ok_store(address, value) __atomic_store_n(address, value, __ATOMIC_RELEASE)
    #define ok_add(address, value) __atomic_add_fetch(address, value, __ATOMIC_ACQ_REL)
    #define ok_exchange(address, value) __atomic_exchange_n(address, value, __ATOMIC_ACQ_REL)
    static inline int ok_change_long(long *address, long old, long fresh)
    {
        return __atomic_compare_exchange_n(address, &old, fresh, 0, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE);
    }
    static inline int ok_change(unsigned long *address, unsigned long old, unsigned long fresh)
    {
        return __atomic_compare_exchange_n(address, &old, fresh, 0, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE);
    }
    """
    int READS "ok_reads"
    long reads_of "ok_reads_of"(const void *access)
    void note_read "ok_note_read"(void *access)
    void forget_read "ok_forget_read"(const void *access)
    void sleep "ok_sleep"(long microseconds) nogil
    void count_forks "ok_count_forks"()
    const long FORKS "ok_forks"                  # of this process and its parents
    const unsigned long FORKER "ok_forker"       # the thread that made the last of them
    long load "ok_load"(long *address)
    unsigned long thread_in "ok_load"(unsigned long *address)
    void store "ok_store"(unsigned long *address, unsigned long value)
    void store_number "ok_store"(long *address, long value)
    long add "ok_add"(long *address, long value)
    bint change "ok_change_long"(long *address, long old, long fresh)
    int exchange "ok_exchange"(int *address, int value) nogil
    bint change_thread "ok_change"(unsigned long *address, unsigned long old, unsigned long fresh)

# Added to the number of readers while a thread writes; larger than any such number.
cdef long WRITING = 1 << 30
# Microseconds of the first and of the longest sleep.
cdef long SHORTEST = 20
cdef long LONGEST = 1000
# A writer sleeps up to COURTESY times SHORTEST if readers wait: they get their turn between writes.
cdef int COURTESY = 50
cdef str INTERRUPTED = (
    "this thread is using the model at this moment: a signal handler or a callback cannot. Use the "
    "model after the call, or from another thread")

count_forks()


cdef bint claim(int *flag) noexcept nogil:
    """Set the flag. Returns whether it was clear before."""
    return exchange(flag, 1) == 0


cdef long slept(long pause) except -1:
    """Sleep without the GIL, then check for signals. Returns the next pause."""
    with nogil:
        sleep(pause)
    PyErr_CheckSignals()
    return min(2 * pause, LONGEST)


cdef class Lock:
    """A re-entrant lock for writers: free again after as many `give` as `take`.

    No thread starves: one that releases it while others wait gets it again only after one of them.
    A pickle or a deep copy is a new, free lock.
    """

    def __cinit__(self):
        self.forks = FORKS

    def __reduce__(self):
        return Lock, ()

    cdef int take(self) except -1:
        """Wait for the lock and take it."""
        cdef unsigned long me = PyThread_get_thread_ident()
        if thread_in(&self.owner) == me:
            self.depth += 1
            return 0
        if (load(&self.waiting) > 0 and self.last == me) or self.forks != FORKS \
                or not change_thread(&self.owner, 0, me):
            self.wait(me)
        self.depth = 1
        return 0

    cdef void give(self) noexcept:
        """Undo the last `take`."""
        self.depth -= 1
        if self.depth == 0:
            self.last = self.owner
            store(&self.owner, 0)

    cdef int wait(self, unsigned long me) except -1:
        cdef long pause = SHORTEST, seen = load(&self.forks)
        if seen != FORKS and change(&self.forks, seen, FORKS):
            # Threads that held it or waited for it do not exist in this process.
            self.waiting = 0
            if thread_in(&self.owner) != FORKER:
                store(&self.owner, 0)
        if READS > 0:
            # Deadlock: the holder of the lock may be waiting for the reads of this thread to end.
            raise RuntimeError(INTERRUPTED)
        add(&self.waiting, 1)
        try:
            while (self.last == me and load(&self.waiting) > 1) \
                    or not change_thread(&self.owner, 0, me):
                pause = slept(pause)
        finally:
            add(&self.waiting, -1)
        return 0

    def __enter__(self):
        self.take()
        return self

    def __exit__(self, *_):
        self.give()


cdef class Access:
    """Any number of readers, or one writer. A writer holds the `Lock`, so there is one at a time.

    Raises
    ------
    RuntimeError
        In a signal handler or a callback that uses the model which its own thread is changing; and
        in a forked child whose parent was changing the model in another thread.
    """

    def __cinit__(self):
        self.forks = FORKS

    cdef int begin_reading(self) except -1:
        """Wait until no thread writes, and become a reader."""
        cdef long state = load(&self.state)
        if state >= WRITING or self.forks != FORKS or self.broken \
                or not change(&self.state, state, state + 1):
            self.wait_to_read()
        note_read(<void *> self)
        return 0

    cdef void end_reading(self) noexcept:
        forget_read(<void *> self)
        # If the process has forked since, `renew` has counted the readers anew.
        if self.forks == FORKS:
            add(&self.state, -1)

    cdef int begin_writing(self, unsigned long me) except -1:
        """Wait until no thread reads or writes, and exclude readers; `me` is this thread."""
        if self.forks != FORKS or self.broken or load(&self.waiting) > 0 \
                or not change(&self.state, 0, WRITING):
            return self.wait_to_write(me)
        store(&self.writer, me)
        return 0

    cdef void end_writing(self) noexcept:
        store(&self.writer, 0)
        self.forks = FORKS
        # There are no readers, so the state is 0: cheaper than to subtract WRITING.
        store_number(&self.state, 0)

    cdef int renew(self) except -1:
        """After a fork, forget the threads of the parent; raise if one of them was writing."""
        cdef long seen = load(&self.forks)
        cdef bint writing = load(&self.state) >= WRITING
        if seen != FORKS and change(&self.forks, seen, FORKS):
            kept = writing and thread_in(&self.writer) == FORKER
            self.broken |= writing and not kept
            self.state = WRITING if kept else reads_of(<void *> self)
            self.waiting = 0
        if self.broken:
            raise RuntimeError(
                "another thread was teaching this model when the process was forked: its copy in "
                "this process is incomplete. Pickle or copy the model before the fork")
        return 0

    cdef int check_other_thread(self) except -1:
        """Raise if this thread itself is writing."""
        if thread_in(&self.writer) == PyThread_get_thread_ident():
            raise RuntimeError(INTERRUPTED)
        return 0

    cdef int wait_to_read(self) except -1:
        cdef long pause = SHORTEST, state
        self.renew()
        if reads_of(<void *> self) > 0:
            # A waiting writer waits for this thread too: to wait for it would be a deadlock.
            add(&self.state, 1)
            return 0
        add(&self.waiting, 1)
        try:
            while True:
                state = load(&self.state)
                if state >= WRITING:
                    self.check_other_thread()
                    pause = slept(pause)
                    self.renew()
                elif change(&self.state, state, state + 1):
                    return 0
        finally:
            add(&self.waiting, -1)

    cdef int wait_to_write(self, unsigned long me) except -1:
        cdef long pause = SHORTEST
        cdef int left = COURTESY
        self.renew()
        self.check_other_thread()
        if reads_of(<void *> self) > 0:
            raise RuntimeError(INTERRUPTED)
        while load(&self.waiting) > 0 and left > 0:
            slept(SHORTEST)
            left -= 1
        # From here on no reader begins; wait until the present ones end.
        store(&self.writer, me)
        add(&self.state, WRITING)
        try:
            while load(&self.state) != WRITING:
                pause = slept(pause)
        except BaseException:
            store(&self.writer, 0)
            add(&self.state, -WRITING)
            raise
        return 0


cdef int begin_writing(Lock lock, Access access) except -1:
    """Wait until this thread has exclusive use of the object that lock and access belong to."""
    lock.take()
    try:
        access.begin_writing(lock.owner)
    except BaseException:
        lock.give()
        raise
    return 0


cdef void end_writing(Lock lock, Access access) noexcept:
    """End the exclusive use."""
    access.end_writing()
    lock.give()


cdef class Writing:
    """A context of exclusive use of the object that lock and access belong to."""

    def __cinit__(self, Lock lock not None, Access access not None):
        self.lock = lock
        self.access = access

    def __enter__(self):
        begin_writing(self.lock, self.access)

    def __exit__(self, *_):
        end_writing(self.lock, self.access)


cdef class Reading:
    """A context in which no thread changes the object that the access belongs to."""

    def __cinit__(self, Access access not None):
        self.access = access

    def __enter__(self):
        self.access.begin_reading()

    def __exit__(self, *_):
        self.access.end_reading()
