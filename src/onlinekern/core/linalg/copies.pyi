from onlinekern.estimators.types import Array, Floats

PANEL: int

def unpacked(name: str, values: Array, n: int, width: int, mirrored: bool = True) -> Floats: ...
