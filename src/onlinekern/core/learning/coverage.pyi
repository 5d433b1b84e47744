from onlinekern.estimators.types import Floats

def begin(size: int) -> tuple[Floats, Floats, Floats, Floats]: ...
def follow(
    scores: Floats,
    recent: Floats,
    ordered: Floats,
    levels: Floats,
    weights: Floats,
    correction: float,
    seen: int,
    wanted: float,
) -> tuple[Floats, float, float, int]: ...
