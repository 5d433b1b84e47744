"""The encoder of tables that a learner makes for itself: its room lies above that of learners."""

from __future__ import annotations

from typing import Any

from onlinekern.preprocessing.tables.encoder import TableEncoder


def new_encoder(parameters: dict[str, Any]) -> TableEncoder:
    """Return an encoder that has learnt nothing."""
    return TableEncoder(**parameters)
