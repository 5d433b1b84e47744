from onlinekern.core.base.random import Generator
from onlinekern.core.budgets.policy import Bounded, Budget

class OldestEviction(Bounded): ...

class RandomEviction(Bounded):
    def __init__(self, max_support: int, rng: Generator) -> None: ...

class UniformEviction(RandomEviction):
    def __init__(self, max_support: int, rng: Generator, max_coefficient: float = ...) -> None: ...

class NonuniformEviction(UniformEviction): ...

POLICIES: dict[str, type[Budget]]
