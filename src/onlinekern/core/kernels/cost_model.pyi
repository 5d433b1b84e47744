from collections.abc import Iterator
from contextlib import contextmanager

WAYS: dict[str, dict[str, dict[str, float]]]

def constants() -> dict[str, float]: ...
@contextmanager
def overridden(**changes: float) -> Iterator[None]: ...
