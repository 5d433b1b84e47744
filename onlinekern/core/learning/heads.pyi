from collections.abc import Callable, Sequence

from onlinekern.core.base.part import Part

class Head(Part):
    @property
    def n_outputs(self) -> int: ...
    def __init__(self) -> None: ...

class Binary(Head): ...

class OneVsRest(Head):
    def __init__(self, n_classes: int) -> None: ...

class Margin(OneVsRest): ...

class Weighted(Head):
    def __init__(self, inner: Head, weights: Sequence[float]) -> None: ...

HEADS: dict[str, Callable[..., Head]]
