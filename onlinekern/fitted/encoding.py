"""The table encoder that a learner makes for itself; learners may not import its room."""

from __future__ import annotations

from typing import Any

from onlinekern.preprocessing.tables.encoder import TableEncoder


def new_encoder(parameters: dict[str, Any]) -> TableEncoder:
    """Return an encoder that has not been fitted."""
    return TableEncoder(**parameters)
