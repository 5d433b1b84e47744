"""A process forked while another thread learns works, and has its BLAS threads."""

import os

import pytest
from interpreters import lines_of

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# The child's work takes less than a second; the alarm ends a child that hangs.
START = """
import os, signal, threading, time
import numpy as np
from onlinekern import BOLSSVMClassifier
from onlinekern.estimators.blas_threads import ONE_THREAD

class Library:
    count = 4
    def get_num_threads(self):
        return self.count
    def set_num_threads(self, count):
        time.sleep(DELAY)
        self.count = count

def forked(work):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if work() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def learn():
    X = np.random.default_rng(0).standard_normal((60, 3))
    return BOLSSVMClassifier(budget=10, gamma=0.5).fit(X, X[:, 0] > 0).n_seen_ == 60

# What is imported at the first fit is there before the forks: a child of a process that imports a
# module in another thread may wait for that thread, whatever the module.
learn()
library = Library()
ONE_THREAD._libraries = [library]
"""
WHILE_THE_NUMBER_IS_CHANGED = """
other = threading.Thread(target=learn)
other.start()
while not ONE_THREAD._inside and library.count == 4 and not ONE_THREAD._before:
    time.sleep(0.001)
print(forked(learn), forked(learn))
other.join()
print(library.count)
"""
WHILE_ANOTHER_LEARNS = """
inside, leave = threading.Event(), threading.Event()
def wait():
    with ONE_THREAD():
        inside.set()
        leave.wait()
other = threading.Thread(target=wait)
other.start()
inside.wait()
print(library.count, forked(lambda: library.count == 4 and learn() and library.count == 4))
with ONE_THREAD() as context:
    def work():
        context.__exit__()
        return library.count == 4
    print(forked(lambda: library.count == 1 and work()))
leave.set()
other.join()
print(library.count)
"""
A_HANDLER_FORKS = """
codes = []
class Forking(Library):
    def set_num_threads(self, count):
        self.count = count
        if not codes:
            codes.append(forked(lambda: True))
ONE_THREAD._libraries = [Forking()]
print(learn(), codes)
"""


def run(code, delay=0.0):
    return lines_of(START.replace("DELAY", str(delay)) + code)


def test_fork_while_another_thread_changes_the_number_of_blas_threads():
    assert run(WHILE_THE_NUMBER_IS_CHANGED, delay=0.3) == ["0 0", "4"]


def test_child_has_its_blas_threads_and_its_own_contexts():
    assert run(WHILE_ANOTHER_LEARNS) == ["1 0", "0", "4"]


def test_fork_by_the_thread_that_changes_the_number():
    assert run(A_HANDLER_FORKS) == ["True [0]"]


def test_fork_under_load():
    code = """
stop = threading.Event()
def load():
    while not stop.is_set():
        learn()
other = threading.Thread(target=load)
other.start()
print({forked(learn) for _ in range(12)})
stop.set()
other.join()
"""
    assert run(code, delay=0.0002) == ["{0}"]
