"""What is asked of workers before they are sent anything that only the library can read.

Where the library is missing, Dask cannot read what it is sent, and waits without an end. So the
question is text, which needs nothing but Python.
"""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

from onlinekern._config import show_config

# Seconds in which a worker must answer, for which it imports the library.
ANSWER = 60
# Bytes that should be free: the library, with what it imports, takes half of them.
LEAST_FREE = 256 << 20

LOOK = """
import sys

answer = {"python": sys.executable, "free": None}
try:
    from onlinekern import show_config

    answer.update(show_config(mode="dicts"))
except Exception as error:
    answer["error"] = type(error).__name__ + ": " + str(error)
try:
    import psutil

    answer["free"] = psutil.virtual_memory().available
except Exception:
    pass
"""
# Its value is the answer: a dictionary of plain values.
QUESTION = f"(lambda names: exec({LOOK!r}, names) or names['answer'])({{}})"


class WorkerUnfit(RuntimeError):
    """A worker lacks the library, has another version of it, or does not answer.

    Attributes
    ----------
    workers : dict of str to str
        Address of each such worker, and what is wrong with it.
    """

    def __init__(self, workers: dict[str, str]) -> None:
        super().__init__("; ".join(f"worker {where} {what}" for where, what in workers.items()))
        self.workers = dict(workers)

    def __reduce__(self) -> Any:
        return type(self), (self.workers,)


class Preflight:
    """Asks each worker once.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._own: Any = show_config(mode="dicts")
        self._asked: set[str] = set()

    def ask(self) -> int:
        """Ask the workers that have come; return how many there are.

        Raises
        ------
        WorkerUnfit
            If one lacks the library, has another version, or does not answer.
        """
        there = list(self.client.nthreads())
        new = [address for address in there if address not in self._asked]
        if new:
            answers = dict(zip(new, self.client.sync(self._ask, new), strict=True))
            faults = {address: self._fault(answer) for address, answer in answers.items()}
            unfit = {address: fault for address, fault in faults.items() if fault}
            if unfit:
                raise WorkerUnfit(unfit)
            self._asked.update(new)
            self._warn(answers)
        return len(there)

    async def _ask(self, addresses: list[str]) -> list[Any]:
        async def ask(address: str) -> Any:
            asked = self.client.run(eval, QUESTION, workers=[address], on_error="return")
            return (await asyncio.wait_for(asked, ANSWER)).get(address)

        return await asyncio.gather(*map(ask, addresses), return_exceptions=True)

    def _fault(self, answer: Any) -> str | None:
        """Return what is wrong with a worker, by its answer; None of one that has just left."""
        if isinstance(answer, TimeoutError):
            return f"did not answer in {ANSWER} s"
        if answer is None or isinstance(answer, OSError):
            return None
        if isinstance(answer, BaseException):
            return f"could not be asked ({type(answer).__name__}: {answer})"
        if "error" in answer:
            return f"cannot import onlinekern in {answer['python']} ({answer['error']})"
        if answer["version"] != self._own["version"]:
            return f"has onlinekern {answer['version']}, the client {self._own['version']}"
        return None

    def _warn(self, answers: dict[str, Any]) -> None:
        """Warn of workers that will do, but not as well as the others."""
        for address, answer in answers.items():
            if not isinstance(answer, dict):
                continue
            if answer["instruction_set"] != self._own["instruction_set"]:
                warnings.warn(
                    f"worker {address} runs on {answer['instruction_set']}, the client on "
                    f"{self._own['instruction_set']}: the last digits of the model depend on who "
                    f"learns what; ONLINEKERN_ISA={answer['instruction_set']} makes all alike",
                    RuntimeWarning, stacklevel=2,
                )  # fmt: skip
            if answer["free"] is not None and answer["free"] < LEAST_FREE:
                warnings.warn(
                    f"worker {address} has {answer['free'] >> 20} MiB of memory free, "
                    f"{LEAST_FREE >> 20} MiB are the least", RuntimeWarning, stacklevel=2,
                )  # fmt: skip
