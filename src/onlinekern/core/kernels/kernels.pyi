from typing import ClassVar

from onlinekern.core.base.part import Part

class Kernel(Part):
    parameters: ClassVar[tuple[str, ...]]

class Gaussian(Kernel):
    parameters: ClassVar[tuple[str, ...]]
    def __init__(self, gamma: float) -> None: ...

class EuclideanLaplacian(Kernel):
    parameters: ClassVar[tuple[str, ...]]
    def __init__(self, gamma: float) -> None: ...

class Laplacian(Kernel):
    parameters: ClassVar[tuple[str, ...]]
    def __init__(self, gamma: float) -> None: ...

class Polynomial(Kernel):
    parameters: ClassVar[tuple[str, ...]]
    def __init__(self, gamma: float, degree: int = 3, coef0: float = 0.0) -> None: ...

class Sigmoid(Kernel):
    parameters: ClassVar[tuple[str, ...]]
    def __init__(self, gamma: float, coef0: float = 0.0) -> None: ...

class Cosine(Kernel): ...

KERNELS: dict[str, type[Kernel]]
KERNEL_ALIASES: dict[str, str]
