from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

class Calls:
    def __init__(self, function: Callable[[Any], Any], items: Sequence[Any]) -> None: ...
    def work(self) -> None: ...
    def finish(self, helpers: Sequence[Future[None]]) -> list[Any]: ...

def run_together(
    function: Callable[[Item], Result], items: Sequence[Item], n_threads: int
) -> list[Result]: ...
