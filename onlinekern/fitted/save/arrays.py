"""NumPy in a file: which dtypes can be saved, which numbers stand for elements; generators."""

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


# NumPy mixes a pool of 4 numbers, unless it is told otherwise, in quadratic time.
MOST_POOL = 64
KINDS = {"MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"}


def state_of_generator(generator: Any) -> dict[str, Any]:
    """Return the state of a RandomState or Generator; TypeError if its bits come from elsewhere."""
    if isinstance(generator, np.random.RandomState):
        state = generator.get_state(legacy=False)
    else:
        bits = generator.bit_generator
        state = {**bits.state, "seed": state_of_seed(bits.seed_seq)}
    if state["bit_generator"] not in KINDS:
        raise TypeError(f"a generator of the kind {state['bit_generator']} cannot be saved")
    return dict(state)


def state_of_seed(seed: Any) -> dict[str, Any]:
    """Return the state of a SeedSequence, from which `Generator.spawn` draws."""
    if type(seed) is not np.random.SeedSequence:
        raise TypeError(f"a generator with a {type(seed).__name__} cannot be saved")
    if seed.pool_size > MOST_POOL:
        raise TypeError(f"a generator with a pool of {seed.pool_size} numbers cannot be saved")
    return dict(seed.state)


def generator_of(name: str, state: Any) -> Any:
    """Return the generator of that class and state; ValueError or TypeError if there is none."""
    bits = state["bit_generator"]
    if bits not in KINDS or name not in ("RandomState", "Generator"):
        raise ValueError(f"there is no generator {name} of the kind {bits}")
    check_place(bits, state)
    if name == "RandomState":
        restored = np.random.RandomState(getattr(np.random, bits)(0))
        restored.set_state(state)
        return restored
    if not 0 < state["seed"]["pool_size"] <= MOST_POOL:
        raise ValueError(f"the pool of a generator must hold at most {MOST_POOL} numbers")
    seed = np.random.SeedSequence(**state["seed"])
    source = getattr(np.random, bits)(seed)
    source.state = {key: value for key, value in state.items() if key != "seed"}
    return np.random.Generator(source)


def check_place(bits: str, state: Any) -> None:
    """Raise ValueError if a place is beyond the numbers drawn ahead: NumPy would read there."""
    if bits == "MT19937":
        place, most = state["state"]["pos"], 624
    elif bits == "Philox":
        place, most = state["buffer_pos"], 4
    else:
        return
    if type(place) is not int or not 0 <= place <= most:
        raise ValueError(f"the place in the numbers of {bits} must be 0 ... {most}, got {place}")
