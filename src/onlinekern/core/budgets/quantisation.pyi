from onlinekern.core.budgets.policy import Bounded, Budget

class Quantise(Bounded):
    def __init__(self, similarity: float, max_support: int) -> None: ...

POLICIES: dict[str, type[Budget]]
