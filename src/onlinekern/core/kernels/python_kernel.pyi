from collections.abc import Callable
from typing import Any

from onlinekern.core.kernels.kernels import Kernel

class PythonKernel(Kernel):
    calls_python: bool
    def __init__(self, function: Callable[[Any, Any], Any]) -> None: ...
    @property
    def function(self) -> Callable[[Any, Any], Any]: ...
