from typing import Any

from onlinekern.core.linalg.renewed_inverse import RenewedInverse
from onlinekern.estimators.types import Floats

FIELDS: tuple[str, ...]
LATER_FIELDS: tuple[str, ...]

class OpenBlock(RenewedInverse):
    def weights(self) -> Floats: ...
    def get_state(self) -> dict[str, Any]: ...
    def set_state(self, state: dict[str, Any]) -> None: ...
