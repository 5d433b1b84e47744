"""Learning on a Spark cluster.

`fit` learns a data frame in the rounds of `onlinekern.distributed.fit`, with the same result to the
bit. `learn_stream` learns a stream, with a model for each key. They need pyspark: ``pip install
'onlinekern[spark]'``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
