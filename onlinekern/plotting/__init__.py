"""Pictures of what learners do on streams (needs matplotlib: ``pip install 'onlinekern[cli]'``).

Displays are used as scikit-learn's: a class method computes and draws, `plot` draws again, and what
was drawn is in the attributes ``ax_``, ``figure_``, ``line_`` and so on. The functions `plot_...`
draw comparisons and races.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
