"""Arguments of the functions of streams: whatever is wrong with them is named."""

import numpy as np
import pytest

from onlinekern.streams import (
    Source,
    chess_board,
    gaussian_mixture,
    gaussian_mixture_blocks,
    lorenz,
    mackey_glass,
    read_blocks,
    two_normals,
    two_spirals,
)

ARRAYS = np.zeros((4, 2)), np.arange(4) % 2
WRONG = [
    (Source.from_arrays, ARRAYS, {"task": "ranking"}, "task must be one of auto, classification"),
    (Source.from_arrays, ARRAYS, {"task": None}, "task must be one of"),
    (Source.from_arrays, ARRAYS, {"scale": "log"}, "scale must be one of"),
    (Source.from_arrays, ARRAYS, {"dtype": "int8"}, "dtype must be float32 or float64, got 'int8'"),
    (Source.from_arrays, ARRAYS, {"dtype": "what"}, "dtype must be float32 or float64"),
    (Source.from_arrays, ARRAYS, {"zero_based": 2}, "zero_based must be 'auto', True or False"),
    (Source.from_arrays, ARRAYS, {"limit": 0}, "limit must be an integer of at least 1, got 0"),
    (Source.from_arrays, ARRAYS, {"limit": 2.5}, "limit must be an integer"),
    (Source.from_arrays, ARRAYS, {"n_features": -3}, "n_features must be an integer of at least 1"),
    (Source.from_arrays, ARRAYS, {"budget": 0}, "budget must be an integer of at least 1"),
    (Source.from_arrays, (ARRAYS[0], ARRAYS[1][:3]), {}, r"shapes \(4, 2\) and \(3,\)"),
    (Source.from_arrays, (ARRAYS[1], ARRAYS[1]), {}, r"X must be an array"),
    (read_blocks, ("a.txt",), {"dtype": "int"}, "dtype must be float32 or float64"),
    (read_blocks, ("a.txt",), {"n_features": 0}, "n_features must be an integer of at least 1"),
    (gaussian_mixture, (0,), {}, "n_samples must be an integer of at least 1, got 0"),
    (gaussian_mixture_blocks, (0, -1), {}, "block_size must be an integer"),
    (two_normals, (5, 0), {}, "n_features must be an integer"),
    (two_normals, (5, 2, np.nan), {}, "distance must be a finite number"),
    (two_spirals, (2.5,), {}, "n_samples must be an integer"),
    (two_spirals, (5,), {"turns": np.inf}, "turns must be a finite number"),
    (two_spirals, (5,), {"noise": -1}, "noise must be a finite number of at least 0"),
    (chess_board, (5,), {"size": 0}, "size must be an integer"),
    (mackey_glass, (0,), {}, "n_samples must be an integer of at least 1, got 0"),
    (mackey_glass, (5,), {"tau": 0}, "tau must be > 0, got 0"),
    (mackey_glass, (5,), {"step": np.inf}, "step must be a finite number, got inf"),
    (mackey_glass, (5,), {"embedding": 0}, "embedding must be an integer"),
    (lorenz, (5,), {"horizon": 1.5}, "horizon must be an integer"),
    (lorenz, (5,), {"noise": -1}, "noise must be a finite number of at least 0"),
    (lorenz, (5,), {"rho": "a"}, "rho must be a finite number"),
    (lorenz, (5,), {"step": -1.0}, "step must be > 0, got -1.0"),
]


@pytest.mark.parametrize(("function", "arguments", "options", "message"), WRONG)
def test_every_argument_is_checked(function, arguments, options, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments, **options)


def test_the_number_of_rows_of_a_head_is_checked():
    with Source.from_arrays(*ARRAYS) as source, pytest.raises(ValueError, match="n_samples must"):
        source.head(0)
