"""Saved states of models that learn in C: reading them into estimators, and writing them."""

from __future__ import annotations

import struct
import zlib
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from onlinekern.estimators.atomic import lock_of
from onlinekern.estimators.blas_threads import ONE_THREAD
from onlinekern.estimators.types import Array
from onlinekern.fitted.export.c import check_learning, dtype_of, learning_of
from onlinekern.fitted.export.c.fields import ANY, FINITE, HEAD, VERSION
from onlinekern.fitted.export.c.generate import written
from onlinekern.fitted.export.c.source import Source
from onlinekern.fitted.export.describe import describe
from onlinekern.fitted.export.states import TARGETS, JointState, KernelState, Landmarks, Learning
from onlinekern.fitted.export.taught import Taught
from onlinekern.fitted.families.models import without_rival
from onlinekern.fitted.save.consistency import complete
from onlinekern.fitted.state import State, closed, opened
from onlinekern.preprocessing.steps import learner_of

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

MAGIC = b"OKDS"
# Magic number, version, bytes of a number, whether landmarks are constants, identity of the model,
# room, number of the save, total bytes.
FORM = struct.Struct("<4sHBBIIII")


class Form(NamedTuple):
    """Facts about the C program to which a state belongs."""

    dtype: np.dtype[Any]
    fixed: bool
    model: int
    room: int


def write_device_state(
    estimator: Any,
    *,
    dtype: DTypeLike = "float64",
    capacity: int | None = None,
    number: int = 0,
    like: bytes | None = None,
) -> bytes:
    """Return the state of a fitted model as the bytes that its C loads.

    ``model_load`` of the exported C accepts these bytes. The C must have been exported with the
    same `dtype` and `capacity`, from this model or from one that differs only in what it has
    learnt. This way, devices can continue from the merged model of all of them: see docs/export.md.

    Parameters
    ----------
    estimator : estimator
        A fitted learner or pipeline that learns in C.
    dtype : {'float64', 'float32'}, default='float64'
        Number type of the C.
    capacity : int >= 1, default=None
        The `capacity` with which the C was exported.
    number : int, default=0
        Number of the save. If there are two slots, ``model_load_newest`` loads the one with the
        later number.

    like : bytes-like, default=None
        A state that a device has saved. `dtype` and `capacity` are then taken from it, and also
        whether landmarks of least squares can grow on the device. Without `like`, the landmarks
        can grow unless `estimator` already has all of them, as in the C that `export_c` writes.

    Returns
    -------
    bytes
        As many as ``MODEL_STATE_BYTES``.

    Raises
    ------
    NotFittedError
        If `estimator` has not been fitted.
    TypeError
        If the model cannot learn in C; the message says why.
    ValueError
        If an argument is invalid, if there are more support vectors than `capacity`, if a number of
        the model does not fit `dtype`, or if `like` belongs to another model.

    See Also
    --------
    read_device_state : The way back.

    Examples
    --------
    >>> from onlinekern import PAClassifier, read_device_state, write_device_state
    >>> model = PAClassifier().fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> data = write_device_state(model)
    >>> read_device_state(model, data).predict([[2.0, 0.0]])
    array(['yes'], dtype='<U3')
    """
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise ValueError(f"number must be an integer, got {number!r}")
    if not 0 <= number < 2**32:
        raise ValueError(f"number must be from 0 to 2**32 - 1, got {number}")
    check_learning(True, capacity)
    if like is None:
        scoring = describe(estimator)
        learning = learning_of(estimator, scoring.name, True, capacity)
        assert learning is not None
        source = written(scoring, dtype_of(dtype), "model", learning, capacity)[0]
    else:
        source, _ = source_like(estimator, checked_head(bytes_of("like", like), "like"), "like")
    size = source.n_bytes()
    head = FORM.pack(
        MAGIC,
        VERSION,
        source.dtype.itemsize,
        source.fixed,
        source.identity,
        source.room,
        int(number),
        size,
    )
    body = head + b"".join(field.values.tobytes() for field in source.fields)
    return body + struct.pack("<I", zlib.crc32(body))


def read_device_state(estimator: Any, data: bytes) -> Any:
    """Return a fitted model that continues from the state of a model in C.

    Parameters
    ----------
    estimator : estimator
        The model from which the C was exported, or one that differs from it only in what it has
        learnt. It is not changed.
    data : bytes-like
        The bytes that ``model_save`` of the C has written.

    Returns
    -------
    estimator
        A new model with the parameters and counters of `estimator` and the learnt state of the
        device. Devices do not store everything. The counts of mistakes and losses, the last scores
        and the samples for renewing forests and metrics are those of `estimator`. `merge` accepts
        such models.

    Raises
    ------
    NotFittedError
        If `estimator` has not been fitted.
    TypeError
        If `estimator` cannot learn in C, or `data` are no bytes.
    ValueError
        If the bytes are damaged, or belong to another version of the format or to another model.

    See Also
    --------
    write_device_state : The way back.
    merge : One model of several.

    Examples
    --------
    >>> from onlinekern import PAClassifier, merge, read_device_state, write_device_state
    >>> model = PAClassifier().fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> devices = [write_device_state(model) for _ in range(3)]  # in C they would go on learning
    >>> merged = merge([read_device_state(model, data) for data in devices], base=model)
    >>> len(write_device_state(merged)) == len(devices[0])
    True
    """
    content = bytes_of("data", data)
    source, learning = source_like(estimator, checked_head(content, "data"), "data")
    if source.n_bytes() != len(content):
        raise ValueError(f"data must be {source.n_bytes()} bytes, got {len(content)}")
    fields, at = {}, HEAD
    for field in source.fields:
        values = np.frombuffer(content, field.values.dtype, len(field.values), at)
        check_values(field.name, values, field.most)
        real = values.dtype.kind == "f"
        fields[field.name] = values.astype(np.float64 if real else values.dtype.newbyteorder("="))
        at += values.nbytes
    # BLAS runs on one thread: the bits of a model would otherwise depend on the number of threads.
    with ONE_THREAD():
        more = int(fields["seen"][0]) - learning.seen
        return taught(estimator, Taught(fields, more, source.dtype))


def bytes_of(name: str, data: Any) -> bytes:
    """Return the argument as bytes; raise TypeError, which names it, for something else."""
    try:
        return bytes(memoryview(data))
    except TypeError:
        raise TypeError(f"{name} must be bytes, got {type(data).__name__}") from None


def checked_head(content: bytes, name: str) -> Form:
    """Return the facts in the head of a state; raise ValueError if the bytes are no state."""
    if len(content) < HEAD + 4 or content[:4] != MAGIC:
        raise ValueError(f"{name} are no state of a model in C: they must begin with OKDS")
    _, version, itemsize, fixed, model, room, _, size = FORM.unpack_from(content)
    if version != VERSION:
        raise ValueError(f"{name} are a state of version {version}; this library reads {VERSION}")
    if size != len(content):
        raise ValueError(f"{name} must be {size} bytes, as they say, got {len(content)}")
    if zlib.crc32(content[:-4]) != int.from_bytes(content[-4:], "little"):
        raise ValueError(f"{name} are damaged: the checksum is another one")
    if itemsize not in (4, 8):
        raise ValueError(f"{name} have numbers of {itemsize} bytes; 4 and 8 are known")
    return Form(np.dtype(f"f{itemsize}"), bool(fixed), model, room)


def source_like(estimator: Any, form: Form, name: str) -> tuple[Source, Learning]:
    """Return the C of a model in the form of a state; ValueError if it belongs to another model."""
    scoring = describe(estimator)
    learning = learning_of(estimator, scoring.name, True, None)
    assert learning is not None
    capacity, state = None, learning.state
    if isinstance(state, KernelState) and state.unbounded:
        capacity = max(1, form.room, len(state.vectors))
    if isinstance(state, JointState) and isinstance(state.map, Landmarks) and not form.fixed:
        # Landmarks can grow in this C, even if all of them exist by now.
        grows = replace(state.map, fixed=False)
        learning = replace(learning, state=replace(state, map=grows))
    source = written(scoring, form.dtype, "model", learning, capacity)[0]
    if source.identity != form.model:
        raise ValueError(
            f"{name} are the state of another model than this {type(estimator).__name__}: "
            "parameters, features, labels, random features and trees must be those of the export"
        )
    return source, learning


def check_values(name: str, values: Array, most: int) -> None:
    """Raise ValueError unless the numbers of a field are in its range."""
    if most == FINITE and not np.isfinite(values).all():
        raise ValueError(f"data have numbers in {name!r} that are not finite")
    if most not in (FINITE, ANY) and not ((values >= 0) & (values <= most)).all():
        raise ValueError(f"data have {name}={values[0]}, which must be from 0 to {most}")


def taught(estimator: Any, found: Taught) -> Any:
    """Return a copy of an estimator with the learnt state of a device."""
    own = learner_of(estimator)
    with lock_of(own):
        # The learnt state is replaced, so it need not be copied.
        twin = deepcopy(estimator, {id(own._model): own._model})
        model = opened(own._model)
    learner = twin
    if isinstance(twin, Pipeline):
        learner = learner_of(twin)
        if "moments" in found and "awake" not in found:
            scaler = next(step for _, step in twin.steps if hasattr(step, "_moments"))
            scaler._moments = closed(moments_of(opened(scaler._moments), found))
    of_its_kind = race_of if "awake" in found else model_of
    learner._model = closed(of_its_kind(model, found))
    if "recent" in found:
        recent = learner._recent.copy()
        recent.values, recent.count = found.fields["recent"].copy(), found.count("recent_count")
        recent.quantile = found.number("offset")
        learner._recent = recent
    if "support_" in vars(learner):
        # The number of training points is unknown on a device.
        learner.support_ = np.arange(learner._model.space.support.n_rows)
    complete(learner)
    return twin


def model_of(model: State, found: Taught) -> State:
    """Return the state of a model, updated by the fields of a device."""
    if hasattr(model, "blank"):
        return without_rival(model).changed(model=model_of(model.model, found))
    space = model.arguments.space
    rule = space.kind_.taught
    assert rule is not None, f"{space.kind_.name} learns in C, but has no way back"
    if "generator" in found:
        # The generator is changed in place, because policies share it.
        model.arguments.rng.state = tuple(int(word) for word in found.fields["generator"])
    learnt: dict[str, Any] = {"seen": found.count("seen")}
    if "lead" in found:
        learnt["lead"] = found.count("lead")
    if "target" in found:
        numbers = map(float, found.fields["target"])
        learnt["targets"] = model.targets.changed(**dict(zip(TARGETS, numbers, strict=True)))
    return model.changed(arguments=model.arguments.changed(space=rule(space, found)), **learnt)


def race_of(race: State, found: Taught) -> State:
    """Return the state of a race, updated by the fields of its experts and of their vote."""
    if hasattr(race, "race"):
        # A rival has not learnt the samples of the device.
        return without_rival(race).changed(race=race_of(race.race, found))
    own, experts, began = race.arguments, [], race.progress.began
    for k, expert in enumerate(own.experts):
        beginning = f"e{k}_"
        fields = {
            name.removeprefix(beginning): values
            for name, values in found.fields.items()
            if name.startswith(beginning)
        }
        more = int(fields["seen"][0]) - expert.seen
        experts.append(model_of(expert, Taught(fields, more, found.dtype)))
    state, n = own.vote.state, len(experts)
    losses, counts = found.fields["losses"], found.fields["counts"]
    voted = {"errors": found.matrix("errors", n).copy(), "met": found.fields["met"].copy()}
    voted |= {"losses": losses[:-1].copy(), "counts": counts[:-1].copy()}
    voted["combined"] = np.array([losses[-1], counts[-1]])
    if "n_ranges" in found:
        ends = [found.number("least_seen"), found.number("most_seen")]
        voted["range"] = np.array(ends if found.count("n_ranges") else [])
    learnt = [new.seen - old.seen for new, old in zip(experts, own.experts, strict=True)]
    return race.changed(
        arguments=own.changed(
            experts=tuple(experts),
            vote=own.vote.changed(state=state.changed(**voted)),
            moments=moments_of(own.moments, found),
        ),
        progress=race.progress.changed(
            n_seen=began + found.count("seen"),
            alarm=began + found.count("alarm"),
            voting=found.fields["awake"].astype(np.uint8),
            learnt=np.maximum(race.progress.learnt + learnt, 0),
        ),
    )


def moments_of(moments: State, found: Taught) -> State:
    """Return the running moments of a scaler, updated by the fields of a device."""
    state = moments.state
    weight, *rest = found.fields["moments"].tolist()
    d = moments.d
    mean, variance = np.array(rest[:d]), np.array(rest[d : 2 * d])
    rows = np.stack([mean, variance])
    # Behind them are the rows so far, and the ends of the features.
    ends = None
    if state.ends is not None:
        ends = np.ascontiguousarray(np.reshape(rest[2 * d + 1 :], (-1, d)).T)
    if not moments.centred:
        rows = (weight * variance).reshape(state.moments.shape)
    count = max(0, state.count + found.more)
    learnt = {"moments": rows, "count": count, "unit": 1.0, "total": weight, "ends": ends}
    return moments.changed(state=state.changed(**learnt))
