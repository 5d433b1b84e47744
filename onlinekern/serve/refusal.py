"""The error of a refused request, which becomes an answer."""

from __future__ import annotations

from typing import Any, NoReturn

from onlinekern.streams.errors import shown


class Refusal(Exception):
    """Error of a request that cannot be answered.

    Parameters
    ----------
    status : int
        The status of HTTP.
    message : str
        For the client: it names the argument, and the row and feature where there is one.
    retry_after : int, optional
        Seconds after which the same request may succeed.
    """

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.retry_after = status, message, retry_after


def bad(message: str) -> NoReturn:
    """Refuse a request that is wrong."""
    raise Refusal(400, message)


def kind_of(value: Any) -> str:
    """Return text and numbers as they are, and the kind of other values, for a message."""
    if isinstance(value, dict | list):
        return f"an {'object' if isinstance(value, dict) else 'array'} of {len(value)}"
    return shown(value)
