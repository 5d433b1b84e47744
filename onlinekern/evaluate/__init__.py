"""Evaluation: test-then-train runs, repeated over random permutations and put side by side.

``prequential`` runs one estimator over one stream. ``compare`` runs a set of methods over several
permutations of one source: each permutation is streamed once and fed to all methods block by block.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
