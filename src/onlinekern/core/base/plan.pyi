from collections.abc import Callable
from typing import Any

UNIT: float

def once(
    cost: float, *functions: Callable[[Any], Any]
) -> list[tuple[Callable[[int], Any], int, float]]: ...
def by_rows(
    function: Callable[[slice], Any],
    n: int,
    size: int,
    cost: float,
    unit: float = ...,
    first: float = ...,
) -> tuple[Callable[[int], Any], int, float, float, int]: ...
def by_steps(
    function: Callable[[int, int], Any], n: int, n_steps: int, cost: float, first: float = ...
) -> tuple[Callable[[int], Any], int, float, float, int]: ...

class Plan:
    @property
    def work(self) -> float: ...
    def __init__(
        self,
        stages: list[
            tuple[Callable[[int], Any], int, float]
            | tuple[Callable[[int], Any], int, float, float, int]
        ],
    ) -> None: ...
    def finish(self) -> None: ...
