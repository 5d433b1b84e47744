"""Random generators of NumPy in a file: their state as dictionaries of numbers and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

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
