"""Generation of a C file and its header from the description of a fitted model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from onlinekern.core.linalg.sentinels import (
    APART,
    AT_MOST_ONE_IN,
    ENDS,
    FARTHEST,
    LEAST_BETWEEN,
    LEAST_COUNT,
    LEAST_VALUES,
    ONE_IN,
    STILL_APART,
)
from onlinekern.fitted.export import scoring as parts
from onlinekern.fitted.export import states
from onlinekern.fitted.export.c.forest import ForestWriter
from onlinekern.fitted.export.c.header import Exported, finished
from onlinekern.fitted.export.c.labels import label_table
from onlinekern.fitted.export.c.learners import write_learner
from onlinekern.fitted.export.c.race import RaceWriter
from onlinekern.fitted.export.c.source import Source
from onlinekern.fitted.export.c.table import write_layout, write_table
from onlinekern.fitted.export.c.terms import needs_dense, write_features, write_term, write_turn
from onlinekern.fitted.export.identity import identity
from onlinekern.fitted.export.states import Scaler

# The fields of the ends of a feature, as C names them: `mean` there is the mean of all values.
NAMES = {"mean": "middle", "variance": "spread", "weight": "between"}
IN_C = tuple(NAMES.get(name, name) for name in ENDS)
# Values of single precision whose squares do not overflow.
FARTHEST_SINGLE = 1e18
# The test of a row's numbers, and the comment on a row that fails it.
TAKEN = {
    False: {"taken": "all_finite", "wrong": "NaN or infinite"},
    True: {"taken": "none_infinite", "wrong": "infinite"},
}


def generate(
    scoring: parts.Scoring,
    dtype: Any,
    prefix: str,
    header: str,
    learning: states.Learning | None = None,
    capacity: int | None = None,
) -> Exported:
    """Generate the C of a description.

    Parameters
    ----------
    scoring : Scoring
    dtype : numpy.float32 or numpy.float64
    prefix : str
        Beginning of the names in the header.
    header : str
        Name of the header, which the code includes.
    learning : Learning, optional
        Description of learning. None: the C predicts only.
    capacity : int, optional
        Largest number of support vectors of a model that learns.
    """
    source, declared = written(scoring, dtype, prefix, learning, capacity)
    given: dict[str, Any] = {"learns": learning is not None, "type": source.type, **declared}
    return finished(source, scoring, header, "model.h", **given)


def written(
    scoring: parts.Scoring,
    dtype: Any,
    prefix: str,
    learning: states.Learning | None,
    capacity: int | None,
) -> tuple[Source, dict[str, str]]:
    """Return the source of a description, and the further declarations of its header.

    `more` describes learning or the encoding of a table. No export has both.
    """
    source = Source(dtype, prefix)
    source.names |= TAKEN[scoring.missing]
    declared = {"labels": label_table(source, scoring.labels), "more": ""}
    given = scoring
    if learning is not None and isinstance(learning.state, states.RaceState):
        # All members score scaled rows, so scaling is done first.
        assert isinstance(scoring.body, parts.ClassVote | parts.TargetVote)
        body = replace(scoring.body, steps=())
        given = replace(scoring, steps=(*scoring.steps, *scoring.body.steps), body=body)
    keeps_rows = learning is not None and stores_rows(learning.state)
    scaler = None if learning is None else learning.scaler
    n_scored = write_reading(source, given, keeps_rows, scaler)
    if learning is None:
        write_body(source, scoring.body, n_scored)
    elif isinstance(learning.state, states.ForestState):
        ForestWriter(source, learning, learning.state).write()
    elif isinstance(learning.state, states.RaceState):
        RaceWriter(source, learning, learning.state, n_scored).write()
    else:
        write_learner(source, learning, n_scored, capacity)
    source.fill("score", outputs=scoring.n_outputs)
    declared["predict"] = write_prediction(source, scoring)
    if scoring.table is not None:
        declared["more"] = write_table(source, scoring.table, scoring.head)
    if learning is not None:
        layout = [(each.name, each.type, len(each.values)) for each in source.fields]
        source.identity = identity(scoring, learning, (source.type, layout))
        declared["more"] = write_learning(source, scoring, learning)
    return source, declared


def stores_rows(state: states.Space) -> bool:
    """Return whether rows are stored as, or compared with, support vectors or landmarks."""
    if isinstance(state, states.RaceState):
        return True
    joint = isinstance(state, states.JointState) and isinstance(state.map, states.Landmarks)
    return isinstance(state, states.KernelState) or joint


def write_learning(source: Source, scoring: parts.Scoring, learning: states.Learning) -> str:
    """Write the functions that learn; return their declarations."""
    y, target = ", int32_t y", "y is its class number"
    number = f"{source.names['prefix']}_real"
    reading = {"follow": "read_dense", "sparse": "read_sparse"}
    if learning.scaler is None:
        source.fill("learn_read")
    else:
        source.fill("followed_reading")
        source.fill("learn_followed")
        reading = {"follow": "follow_dense", "sparse": "follow_sparse"}
    if scoring.head == "regression" and scoring.n_outputs > 1:
        source.fill("learn_targets", **reading)
        y, target = f", const {number} *y", "y has its targets"
    elif scoring.head == "regression":
        source.fill("learn_target", **reading)
        y, target = f", {number} y", "y is its target"
    elif scoring.head == "outlier":
        source.fill("learn_row", **reading)
        y, target = "", "it has no label"
    else:
        weight = "1"
        if learning.factors is not None:
            source.constants("sample_factors", learning.factors)
            weight = "sample_factors[y]"
        source.fill("learn_class", weight=weight, **reading)
    return source.filled("declare_learn", y=y, target=target)


def write_reading(
    source: Source, scoring: parts.Scoring, keeps_rows: bool, scaler: states.Scaler | None
) -> int:
    """Write the functions `read_dense` and `read_sparse`; return the number of scored features.

    With `keeps_rows`, or if a term needs it, these functions make all elements of a row dense. A
    `scaler` that learns replaces the first step.
    """
    steps = needed_steps(source, scoring.steps)
    dense = (
        keeps_rows
        or steps_of_vote(source, scoring.body)
        or any(
            needs_dense(term, source.dtype.itemsize)
            for one in parts.sums_of(scoring.body)
            for term in one.terms
        )
    )
    d = scoring.n_features
    if not steps and not dense:
        source.fill("direct", features=d)
        return d
    source.memory("dense_row", d)
    lines, width = [], d
    for step in steps:
        if scaler is not None and isinstance(step, parts.Standardisation):
            lines.append(write_scaler(source, scaler))
            continue
        if scaler is not None and isinstance(step, parts.Sentinels):
            continue  # The scaler looks for them itself.
        text, width = step_lines(source, step, width)
        lines.append(text)
    source.fill("prepared", features=d, steps="\n".join(lines), scored=width)
    return width


def needed_steps(source: Source, steps: tuple[parts.Step, ...]) -> list[parts.Step]:
    """Return the steps that have an effect on numbers of this type."""
    single = source.dtype == np.float32
    return [step for step in steps if not (isinstance(step, parts.Single) and single)]


def steps_of_vote(source: Source, body: parts.Body) -> list[parts.Step]:
    """Return the steps of a vote, through which rows go for members that are not `raw`."""
    if not isinstance(body, parts.ClassVote | parts.TargetVote):
        return []
    return needed_steps(source, body.steps)


def step_lines(source: Source, step: Any, width: int) -> tuple[str, int]:
    """Return the lines that apply a step to `x` of length `width`, and the new length."""
    if isinstance(step, parts.Single):
        source.use("single")
        return f"    single(x, {width});", width
    if isinstance(step, parts.Standardisation):
        return standardisation_lines(source, step, width), width
    if isinstance(step, parts.Sentinels):
        return sentinel_lines(source, step), width
    if isinstance(step, parts.Turned):
        id_, does, length = source.new_id("metric"), "turn", width
        write_turn(source, id_, step.root)
    else:
        id_, does, length = source.new_id("features"), "features", step.map.n_features
        write_features(source, id_, step.map)
    source.memory(f"{id_}_out", length)
    given = f"const row given{source.n_ids} = {{x, 0, {width}}};"
    call = f"{id_}_{does}(&given{source.n_ids}, {id_}_out);"
    return f"    {given}\n    {call}\n    x = {id_}_out;", length


def standardisation_lines(source: Source, step: parts.Standardisation, width: int) -> str:
    """Return the calls that standardise `x`."""
    id_ = source.new_id("scaling")
    calls = []
    for name, table in (("mean", step.mean), ("scale", step.scale)):
        if table is not None:
            source.constants(f"{id_}_{name}", table)
            source.fill(name, id=id_, features=width)
            calls.append(f"    {id_}_apply_{name}(x);")
    if step.missing:
        source.fill("present", id=id_, features=width)
        calls.append(f"    {id_}_fill_in(x);")
    if np.isfinite(step.limit):
        source.fill("clip", id=id_, features=width, limit=source.number(step.limit))
        calls.append(f"    {id_}_clip(x);")
    return "\n".join(calls)


def sentinel_lines(source: Source, step: parts.Sentinels) -> str:
    """Return the call that writes NaN where a number stands for a missing value."""
    id_, columns = source.new_id("sentinels"), step.columns
    source.integers(f"{id_}_columns", columns, "int32_t", 4)
    source.constants(f"{id_}_numbers", step.numbers[columns])
    source.fill("blank", id=id_, count=len(columns))
    return f"    {id_}_blank(x);"


def in_units(source: Source, name: str, unit: Any) -> str:
    """Return the expression for a number of output k; several numbers become a table."""
    if np.ndim(unit) == 0:
        return source.number(unit)
    source.constants(name, unit)
    return f"{name}[k]"


def write_sum(source: Source, body: parts.Sum) -> str:
    """Write the function `<id>_scores` of a sum; return the id."""
    ids = [write_term(source, term) for term in body.terms]
    calls = [f"    {id_}_add(x, scores);" for id_ in ids if id_ is not None] or ["    (void)x;"]
    own = source.new_id("sum")
    if np.any(body.scale != 1) or np.any(body.shift != 0):
        units = {"scale": body.scale, "shift": body.shift}
        texts = {name: in_units(source, f"{own}_{name}", unit) for name, unit in units.items()}
        calls.append(source.filled("units", outputs=body.n_outputs, **texts).rstrip())
    source.fill("sum", id=own, outputs=body.n_outputs, terms="\n".join(calls))
    return own


def write_body(source: Source, body: parts.Body, n_features: int) -> None:
    """Write the function `body` for rows of `n_features` features."""
    if isinstance(body, parts.Sum):
        source.fill("body", work=f"    {write_sum(source, body)}_scores(x, scores);")
    elif isinstance(body, parts.PairVote):
        write_pair_vote(source, body)
    else:
        write_vote(source, body, n_features)


def write_vote(source: Source, body: parts.ClassVote | parts.TargetVote, n_features: int) -> None:
    """Write the function `body` of a vote."""
    ids = [write_sum(source, member.sum) for member in body.members]
    write_answers(source, body)
    steps = [step_lines(source, step, n_features)[0] for step in steps_of_vote(source, body)]
    if steps:
        source.fill("scaled_in_place", steps="\n".join(steps))
    most = max([body.n_outputs, *(member.sum.n_outputs for member in body.members)])
    lines, of_raw = [f"    real own[{most}];"], "x"
    if body.layout and any(member.raw for member in body.members):
        write_layout(source, body.layout)
        lines += ["    row of_trees;", "    code_row(x, &of_trees);"]
        of_raw = "&of_trees"
    lines += [f"    scores[{k}] = 0;" for k in range(body.n_outputs)]
    if any(member.twin is not None for member in body.members):
        source.fill("twin", limit=source.number(parts.MOST_TWIN))
    scaled = not steps
    for id_, member in zip(ids, body.members, strict=True):
        if not (member.raw or scaled):
            lines.append("    scale_row(x);")
            scaled = True
        lines.append(f"    {id_}_scores({of_raw if member.raw else 'x'}, own);")
        if member.twin is not None:
            lines.append(f"    own[0] = {of_both(source, member.twin)};")
        lines.append(f"    {answer_of(source, body, member)};")
    if isinstance(body, parts.TargetVote):
        lines.append("    scores[0] = bounded(scores[0]);")
    source.fill("body", work="\n".join(lines))


def answer_of(
    source: Source, body: parts.ClassVote | parts.TargetVote, member: parts.Member
) -> str:
    """Return the statement that adds a member's vote to the scores."""
    share, link = source.number(member.share), source.number(member.link)
    if isinstance(body, parts.TargetVote):
        return f"scores[0] += {share} * bounded(own[0])"
    if body.n_outputs == 1:
        return f"scores[0] += {share} * vote_of(own[0], {link})"
    return f"vote(own, {share}, {link}, scores)"


def of_both(source: Source, twin: parts.Twin) -> str:
    """Return the expression that combines the scores of a target and its twin in `own`."""
    numbers = (twin.own, twin.other, twin.factor, *parts.bounds_in(twin, source.dtype))
    return f"of_both(own, {', '.join(source.number(each) for each in numbers)})"


def write_pair_vote(source: Source, body: parts.PairVote) -> None:
    """Write the function `body` of a vote of class pairs."""
    source.memory("pair_scores", body.sum.n_outputs)
    source.memory("totals", body.n_outputs)
    source.fill("pair_vote", classes=body.n_outputs)
    lines = f"    {write_sum(source, body.sum)}_scores(x, pair_scores);\n"
    source.fill("body", work=lines + "    vote(pair_scores, scores);")


def write_answers(source: Source, body: parts.ClassVote | parts.TargetVote) -> None:
    """Write the functions that turn scores into a vote."""
    if isinstance(body, parts.TargetVote):
        least, most = map(source.number, parts.bounds_in(body, source.dtype))
        source.fill("target_vote", least=least, most=most)
    elif body.n_outputs == 1:
        source.use("binary_vote")
    else:
        least = source.number(parts.LEAST_SHARE)
        source.fill("class_vote", outputs=body.n_outputs, least=least)


def write_prediction(source: Source, scoring: parts.Scoring, beginning: str = "") -> str:
    """Write the function that predicts; return its declaration.

    Names of its templates begin with `beginning`.
    """
    if scoring.head == "regression":
        source.fill(f"{beginning}predict_target")
        return source.filled(f"{beginning}declare_predict_target")
    winner = source.filled(f"winner_{scoring.head}", outputs=scoring.n_outputs).rstrip()
    source.fill(f"{beginning}predict_class", outputs=scoring.n_outputs, winner=winner)
    return source.filled(f"{beginning}declare_predict_class")


def write_scaler(source: Source, scaler: Scaler) -> str:
    """Write the moments, and a function that updates them and scales a row; return its call."""
    n = len(scaler.mean)
    moments: dict[str, Any] = {
        name: getattr(scaler, name) for name in ("weight", "mean", "variance")
    }
    if scaler.ends is not None:
        moments |= {"rows": scaler.ends.rows, **dict(zip(IN_C, scaler.ends.fields.T, strict=True))}
    source.structure("moments", moments)
    prefix = source.names["prefix"]
    size = sum(int(np.size(values)) for values in moments.values())
    source.ram += size * source.dtype.itemsize + 4
    source.scratch["moments_before"] = f"struct {prefix}_moments moments_before;"
    source.scratch["following"] = "int following;"
    near = ""
    if np.isfinite(scaler.reach):
        near = source.filled("near_gap", square=source.number(scaler.reach**2)).rstrip()
    kind = "centred_moment" if scaler.centred else "plain_moment"
    moment = source.filled(kind, near=near).rstrip()
    centre = "        x[j] -= moments.mean[j];" if scaler.centred else ""
    begin, filled = "", ""
    if scaler.ends is not None:
        begin = "\n    moments.rows += 1;"
        moment = write_search(source, scaler, moment)
        centre = f"        const int missing = is_missing(j, x[j]);\n{centre}"
        filled = "        if (missing)\n            x[j] = 0;"
    source.fill(
        "follow", features=n, moment=moment, forgetting=source.number(scaler.forgetting),
        begin=begin,
    )  # fmt: skip
    divide = ""
    if scaler.scaled:
        rounding = 16 * float(np.finfo(source.dtype).eps) ** 2
        divide = source.filled("divide_by_deviation", rounding=source.number(rounding)).rstrip()
    divide = "\n".join(filter(None, (divide, filled)))
    source.fill("standardise", features=n, centre=centre, divide=divide)
    call = "    standardise(x);"
    if np.isfinite(scaler.limit) and scaler.scaled:
        source.fill("clip", id="scaled", features=n, limit=source.number(scaler.limit))
        call += "\n    scaled_clip(x);"
    return call


def write_search(source: Source, scaler: Scaler, moment: str) -> str:
    """Write what finds numbers that stand for missing values; return what is done to a feature.

    `moment` is what its moments do if its value is not missing.
    """
    farthest = FARTHEST if source.dtype == np.float64 else FARTHEST_SINGLE
    numbers = {"farthest": farthest, "still": STILL_APART, "apart": APART}
    numbers |= {"count": LEAST_COUNT, "one_in": ONE_IN, "at_most": AT_MOST_ONE_IN}
    numbers |= {"others": LEAST_BETWEEN, "values": LEAST_VALUES}
    source.fill(
        "missing_search",
        forgetting=source.number(scaler.forgetting),
        **{name: source.number(value) for name, value in numbers.items()},
    )
    inner = "\n".join(f"    {line}" for line in moment.splitlines())
    return f"        if (!is_missing(j, x[j])) {{\n{inner}\n        }}\n        look_at(j, x[j]);"
