"""Reports of a model or of a run: one HTML file each, which loads nothing from elsewhere."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
