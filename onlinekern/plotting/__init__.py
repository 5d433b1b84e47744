"""Pictures of learners on streams (needs matplotlib: ``pip install 'onlinekern[cli]'``).

Displays work like those of scikit-learn. A class method computes and draws, `plot` draws again, and
the drawn objects are in attributes such as ``ax_``, ``figure_`` and ``line_``. The functions
`plot_...` draw comparisons and races.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
