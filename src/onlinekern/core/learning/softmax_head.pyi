from collections.abc import Callable

from onlinekern.core.learning.heads import Head, Joint

class Softmax(Joint): ...

HEADS: dict[str, Callable[..., Head]]
