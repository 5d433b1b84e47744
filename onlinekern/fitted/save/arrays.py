"""Dtypes of NumPy in a file: which can be saved, and which numbers stand for their elements."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from onlinekern.estimators.types import Array

# This is what `numpy.dtype.str` gives for bool, integers, floats, text, bytes, dates and durations.
SAVABLE = re.compile(
    r"[|<>](?:b1|[iu][1248]|f[248]|[US]\d{1,9}|[mM]8(?:\[\d{0,9}(?:generic|[A-Za-z]{1,2})\])?)"
)


def dtype_of(text: Any) -> np.dtype[Any]:
    """Return the dtype of that name; raise ValueError if it is none that files hold."""
    if not isinstance(text, str) or not SAVABLE.fullmatch(text):
        raise ValueError(f"{text!r} is no dtype that files hold")
    return np.dtype(text)


def name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype; raise TypeError if it cannot be saved."""
    if not SAVABLE.fullmatch(dtype.str):
        raise TypeError(f"elements of the dtype {dtype} cannot be saved")
    return dtype.str


def stored_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the numbers for the elements: int64 for dates, code points for text."""
    if dtype.kind in "mM":
        return np.dtype("<i8")
    if dtype.kind == "U":
        return np.dtype("<u4")
    return np.dtype("u1") if dtype.kind == "S" else dtype.newbyteorder("<")


def width_of(dtype: np.dtype[Any]) -> int:
    """Return how many numbers stand for one element."""
    return dtype.itemsize // stored_dtype(dtype).itemsize


def to_numbers(array: Array) -> Array:
    """Return the C-contiguous numbers that stand for the elements; text has one more axis."""
    dtype = array.dtype
    little = np.ascontiguousarray(array, dtype.newbyteorder("<")).reshape(array.shape)
    shape = (*array.shape, width_of(dtype)) if dtype.kind in "US" else array.shape
    if not little.size or not dtype.itemsize:
        return np.empty(shape, stored_dtype(dtype))
    return little.view(stored_dtype(dtype)).reshape(shape)


def from_numbers(numbers: Array, dtype: np.dtype[Any]) -> Array:
    """Return the array that `to_numbers` has turned into numbers."""
    text = dtype.kind in "US"
    if numbers.dtype != stored_dtype(dtype) or (text and numbers.shape[-1:] != (width_of(dtype),)):
        raise ValueError(
            f"numbers of the dtype {numbers.dtype} and the shape {numbers.shape} are no elements "
            f"of the dtype {dtype}"
        )
    shape = numbers.shape[:-1] if text else numbers.shape
    if not numbers.size:
        return np.empty(shape, dtype)
    little = numbers.view(dtype.newbyteorder("<")).reshape(shape)
    check_elements(little)
    return little.astype(dtype, copy=False)


def check_elements(array: Array) -> None:
    """Raise ValueError if a byte is no bool or a number is no code point."""
    if array.dtype.kind == "b" and array.view("u1").max() > 1:
        raise ValueError("an array of bools holds another number than 0 and 1")
    if array.dtype.kind == "U" and array.view("<u4").max() > 0x10FFFF:
        raise ValueError("an array of text holds a number that is no code point")
