from onlinekern.core.base.part import Part

class Gate(Part):
    @property
    def always(self) -> bool: ...

class WithinMargin(Gate):
    def __init__(self, margin: float = 1.0) -> None: ...

class LossProportional(Gate):
    def __init__(self, alpha: float = 1.0, beta: float = 5.0, weighted: bool = True) -> None: ...

class SlopeProportional(Gate):
    def __init__(self, G: float = 5.0) -> None: ...

GATES: dict[str, type[Gate]]
