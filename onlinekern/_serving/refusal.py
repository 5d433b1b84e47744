"""Requests that are refused: the error that becomes an answer."""

from __future__ import annotations


class Refusal(Exception):
    """A request that cannot be answered.

    Parameters
    ----------
    status : int
        Of HTTP.
    message : str
        For the client: it names the argument, and the row and feature where there is one.
    retry_after : int, optional
        Seconds after which the same request may succeed.
    """

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.retry_after = status, message, retry_after
