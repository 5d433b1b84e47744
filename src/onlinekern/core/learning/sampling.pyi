from onlinekern.core.base.part import Part

class Sampler(Part):
    @property
    def always(self) -> bool: ...

class WithinMargin(Sampler):
    def __init__(self, margin: float = 1.0) -> None: ...

class LossProportional(Sampler):
    def __init__(self, alpha: float = 1.0, beta: float = 5.0, weighted: bool = True) -> None: ...

class SlopeProportional(Sampler):
    def __init__(self, G: float = 5.0) -> None: ...

SAMPLERS: dict[str, type[Sampler]]
