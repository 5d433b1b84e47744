"""Operations on fitted models: growing, merging, saving and exporting."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
