from typing import Any

from onlinekern.core.linalg.paced_inverse import PacedInverse
from onlinekern.estimators.types import Floats

FIELDS: tuple[str, ...]
LATER_FIELDS: tuple[str, ...]

class OpenBlock(PacedInverse):
    def weights(self) -> Floats: ...
    def get_state(self) -> dict[str, Any]: ...
    def set_state(self, state: dict[str, Any]) -> None: ...
