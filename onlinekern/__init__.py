"""Online and budgeted kernel learning on streams, at C speed, under the scikit-learn contract.

Notes
-----
Any number of threads may use one estimator. One learns at a time (`fit`, `partial_fit`,
`learn_one`, `set_params`), the others wait for their turn. Any number read at once (`predict`,
`score_one`, attributes, pickling, `save`). They wait while samples are being learnt, and each
answer is of one state. The counters `n_seen_`, `n_mistakes_` and `cumulative_loss_` do not wait:
they show how far a call has come. While `fit` learns a new model, the old one answers. A signal
handler that uses the estimator whose call it interrupted gets a RuntimeError. In a forked child, a
model that another thread was teaching raises RuntimeError; all others work.
"""

from __future__ import annotations

from typing import Any

import lazy_loader

_getattr, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """A public name, when it is first needed (PEP 562)."""
    if name == "__version__":
        from onlinekern._config import version

        return version()
    return _getattr(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
