"""Learning on a Flink cluster.

`fit` learns parts of a stream in the rounds of `onlinekern.distributed.fit`, with the same result
to the bit. `learn_stream` learns a stream exactly once, with a model for each key. They need
PyFlink: ``pip install 'onlinekern[flink]'``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
