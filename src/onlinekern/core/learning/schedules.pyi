from typing import ClassVar

from onlinekern.core.base.part import Part

class Schedule(Part):
    parameters: ClassVar[tuple[str, ...]]
    def __init__(self, eta: float = 1.0) -> None: ...
    def __call__(self, t: int) -> float: ...

class InverseSquareRoot(Schedule): ...
class Inverse(Schedule): ...

class Power(Schedule):
    parameters: ClassVar[tuple[str, ...]]
    def __init__(self, eta: float = 1.0, power: float = 0.5) -> None: ...

SCHEDULES: dict[str, type[Schedule]]
