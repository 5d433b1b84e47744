"""Streams: files read in bounded memory and replayed in random orders, and artificial streams.

``open_source`` reads a file once into a buffer and returns a ``Source``. A source can be read any
number of times, in file order or in a new random permutation, as blocks ``(X, y)``. Memory does not
grow with the file. ``read_blocks`` reads files once, from beginning to end. ``read_tables`` returns
the columns of tables as they are.

    reader -> Source -> buffer, statistics -> layout -> blocks for the learner

The readers are in the package ``formats``, the other parts in the modules ``source``, ``buffer``,
``statistics`` and ``layout``.

Artificial streams that change are classes and can be read any number of times: ``take`` returns the
first samples, ``blocks`` an endless iterator. ``ConceptDrift`` joins concepts into a stream with
abrupt, gradual or recurring drift.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
