"""Detectors of change that promise how seldom they raise a false alarm.

Each turns a stream into payoffs that are fair while nothing changes, and bets on them: wealth grows
only if something has changed. What can be won bounds the false alarms, whatever the samples are.

    rows  -> pairs -> payoffs of an MMD witness or of a classifier -> wealth -> alarm
    losses -> ranks among those so far                             -> wealth -> alarm

in the modules ``pairs``, ``mmd``, ``classifier``, ``losses`` and ``wealth``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
