"""Streams: files read in bounded memory and replayed in random orders, and artificial ones.

``open_source`` reads a file once into a buffer and gives a ``Source``, which can be read any number
of times, in file order or in a fresh random permutation, as blocks ``(X, y)``. Memory does not grow
with the file. ``read_blocks`` reads files once, straight through, and ``read_tables`` gives the
columns of tables as they are.

    reader -> Source -> buffer, statistics -> layout -> blocks for the learner

in the package ``formats`` and the modules ``source``, ``buffer``, ``statistics`` and ``layout``.

Artificial streams that change are classes, which can be read as often as one likes: ``take`` gives
the first samples, ``blocks`` all of them, without end. ``ConceptDrift`` joins concepts into a
stream with abrupt, gradual or recurring drift.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
