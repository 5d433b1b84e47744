from onlinekern.core.base.part import Part

class Kernel(Part): ...

class Gaussian(Kernel):
    def __init__(self, gamma: float) -> None: ...

class Laplacian(Kernel):
    def __init__(self, gamma: float) -> None: ...

class Polynomial(Kernel):
    def __init__(self, gamma: float, degree: int = 3, coef0: float = 0.0) -> None: ...

class Sigmoid(Kernel):
    def __init__(self, gamma: float, coef0: float = 0.0) -> None: ...

class Cosine(Kernel): ...

KERNELS: dict[str, type[Kernel]]
KERNEL_ALIASES: dict[str, str]
