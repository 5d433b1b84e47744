"""Answers in JSON."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response


class JSON(Response):
    """Answer in JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        # Labels may be dates.
        return json.dumps(content, allow_nan=False, default=str, separators=(",", ":")).encode()
