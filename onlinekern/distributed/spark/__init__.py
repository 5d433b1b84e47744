"""Learning on a Spark cluster.

`fit` learns a data frame in the rounds of `onlinekern.distributed.fit`, and to its bits.
It needs pyspark:
``pip install 'onlinekern[spark]'``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
