"""Learning past one machine: streams spread over a cluster, learnt in parts and merged.

`fit` learns dask arrays and data frames, delayed readers, and Parquet files. `predict` applies a
model to them. `compare` runs the methods of `onlinekern.evaluate.compare` on a cluster. They need
dask: ``pip install 'onlinekern[dask]'``. `onlinekern.distributed.ray`,
`onlinekern.distributed.spark` and `onlinekern.distributed.flink` learn on other engines, in the
same rounds.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
