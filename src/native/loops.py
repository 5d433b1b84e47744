"""Write the loops of the C library: the sections of the exported C, with sizes of the run.

    python -P src/native/loops.py FILE [DEPENDENCIES]

A generated file has numbers in its loops. Here the same forms get members of a model in their
places, and parts that exclude each other get names of their own, which the tables of loops.c list.
"""

from __future__ import annotations

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from string import Template
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "onlinekern" / "fitted" / "export" / "c"
NAMES = {
    "prefix": "okn",
    "PREFIX": "OKN",
    "taken": "takes",
    "outputs": "n_outputs",
    "length": "stride",
    "features": "n_features",
    "bound": "budget",
    "skipped": "skipped",
    "growth": "growth",
    "period": "period",
    "forgetting": "forgetting",
}
# The members of a model (model.h) that the sections name, or that stand in the places of numbers.
MEMBERS = """
n_outputs n_features stride budget n_components is_linear is_mapped is_single second_order averaged
decays standardised target_fixed margins has_factors one_factor has_norms loss_delta loss_epsilon
eta power_of_time rule_C rule_r rule_phi regularisation margin alpha beta sampler_weighted
largest_slope kernel_gamma kernel_coef0 kernel_degree intercept in_length forgetting growth
similarity smallest_scale largest_scale largest_coefficient period skipped class_factors values
companions variances support_vectors support_norms lengths map_frequencies ages scale total seen
steps lead added n_added n_support policy_nu policy_eta policy_price policy_unit jitter factor
covariance half solution gain noted generator target dense_row features current predicting
coefficients squared_lengths directions contractions
"""
# Those of its forest (forest.h).
FOREST = """
n_trees n_experts n_lower n_both record_length n_labels n_axes n_directions n_gaps n_givers n_tables
n_bends trees_bent trees_bend_centers trees_bend_factors
n_groups n_orders trees_members trees_starts trees_middles trees_bases trees_onsets
offset unit expert_shares least_error trees_center trees_factor trees_directions
trees_tables trees_entries trees_sources trees_givers trees_guesses trees_places trees_missed
trees_means trees_nodes trees_sizes trees_z leaves upper combination noises leaf_of upper_of scored
expert_steps expert_variances expert_sums falls held held_next aims holds
"""
# Functions of loops.c that choose one of several parts; each takes the model.
CHOOSERS = """
loss_value loss_slope loss_demand step_size rule_coefficient rule_contraction sampler solve_all
wrong product look length_of fold model_scores add weight_of sum_of_weights measure admit
noted_of takes support_kernel kernel_norm kernel_diagonal update shrink_before count_model quantile
alpha_of bound contraction_of
"""
LOSSES = """
PerceptronLoss Hinge SquaredHinge SmoothHinge Logistic Exponential Squared EpsilonInsensitive Huber
"""
KERNELS = ("gaussian", "exponential", "laplacian", "polynomial", "linear", "sigmoid", "cosine")
RULES = ("Perceptron", "Gradient", "PassiveAggressive", "PassiveAggressive1",
         "PassiveAggressive2", "ScaledPassiveAggressive1", "ScaledPassiveAggressive2")  # fmt: skip
ADMISSIONS = ("grow", "refuse", "oldest", "nearest", "random", "uniform", "nonuniform", "cheapest",
              "quantise")  # fmt: skip
EITHER = "    if (second_order)\n        "


def load(name: str) -> ModuleType:
    """Return a module of the exporting room, without its package, which needs NumPy."""
    spec = spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Loops:
    """Text of the functions, each section once for each name that it gets."""

    def __init__(self) -> None:
        self.forms = load("sections")
        self.blocks: list[str] = []
        self.used: set[str] = set()
        self.own = set(CHOOSERS.split())

    def fill(self, name: str, renamed: dict[str, str] | None = None, **values: Any) -> None:
        """Add a form, whose functions may get other names, behind those that it needs."""
        text, needed = self.forms.sections()[name]
        for other in needed:
            if other not in self.used:
                self.used.add(other)
                self.fill(other)
        text = Template(text).substitute(NAMES | values).replace("OKN_N_FEATURES", "n_features")
        for old, new in (renamed or {}).items():
            text = re.sub(rf"\b{old}(?=\()", new, text)
            self.own.add(new)
        self.blocks.append(text)

    def filled(self, name: str, **values: Any) -> str:
        """Return the lines of a form that is part of another one."""
        return Template(self.forms.sections()[name][0]).substitute(NAMES | values).rstrip()

    def text(self) -> str:
        """Return the file."""
        reentrant = load("reentrant")
        units = [unit for block in self.blocks for unit in reentrant.UNIT_END.split(block)]
        units = [unit for unit in units if unit.strip()]
        members, forest = MEMBERS.split(), FOREST.split()
        found, _ = reentrant.with_model(units, "okn", forest, members, self.own)
        found = [named(unit).replace("model->state.", "model->forest->") for unit in found]
        functions = ("exp", "tanh", "sqrt", "fabs", "cos", "sin", "pow", "expm1", "log1p")
        macros = "".join(f"#define {name.upper()} {name}\n" for name in functions)
        return f"/* Made by loops.py. */\n{macros}\n" + "\n".join(found)


def named(unit: str) -> str:
    """Return a function that names its model, so that no compiler warns."""
    head, body = unit.split("\n{\n", 1)
    used = "okn_t *model" not in head or "model->" in body or "(model" in body
    return unit if used else f"{head}\n{{\n    (void)model;\n{body}"


def write_parts(loops: Loops) -> None:
    """Write losses, schedules, rules, samplers and heads."""
    for name in LOSSES.split():
        renamed = {f"loss_{what}": f"{name}_{what}" for what in ("value", "slope")}
        numbers = {"delta": "loss_delta", "epsilon": "loss_epsilon", "most": "700"}
        loops.fill(f"loss_{name}", renamed, **numbers)
    for name in ("Hinge", "EpsilonInsensitive"):
        loops.fill(f"demand_{name}", {"loss_demand": f"{name}_demand"}, epsilon="loss_epsilon")
    for name in ("Schedule", "InverseSquareRoot", "Inverse", "Power"):
        loops.fill(f"schedule_{name}", {"step_size": f"{name}_size"}, eta="eta",
                   power="power_of_time")  # fmt: skip
    for name in RULES:
        least = "(step < rule_C ? step : rule_C)"
        loops.fill(f"rule_{name}", {"rule_coefficient": f"{name}_coefficient"}, C="rule_C",
                   regularisation="regularisation", least=least)  # fmt: skip
    renamed = {f"rule_{what}": f"AROW_{what}" for what in ("coefficient", "contraction")}
    loops.fill("rule_AROW", renamed, r="rule_r")
    loops.fill("rule_EverySample", {"rule_coefficient": "EverySample_coefficient"})
    bounded = "y * (loss_value(f, y) < 1 ? loss_value(f, y) : 1)"
    loops.fill("rule_MarginPerceptron", {"rule_coefficient": "MarginPerceptron_coefficient"},
               coefficient=f"margins ? {bounded} : loss_slope(f, y)")  # fmt: skip
    write_confidence(loops)
    suffered = "(sampler_weighted > 0 ? weight : 1) * loss_value(f, y)"
    importance = "(sampler_weighted > 0 ? 1 / probability : 1)"
    numbers = {"margin": "margin", "alpha": "alpha", "beta": "beta", "G": "largest_slope"}
    for name in ("Sampler", "WithinMargin", "LossProportional", "SlopeProportional"):
        loops.fill(f"sampler_{name}", {"sampler": f"{name}_importance"}, suffered=suffered,
                   importance=importance, **numbers)  # fmt: skip
    value = "rule_contraction(f, y, q, importance)"
    loops.fill("solve", contraction=f"{EITHER}contractions[k] = importance > 0 ? {value} : 0;")
    for name, target in (("Head", "y"), ("Binary", "y > 0 ? 1 : -1")):
        loops.fill("head_single", {"solve_all": f"{name}_solve"}, target=target)
    loops.fill("head_OneVsRest", {"solve_all": "OneVsRest_solve"})
    rival = f"{EITHER}contractions[rival] = contractions[label];"
    loops.fill("head_Margin", {"solve_all": "Margin_solve"}, contraction=rival)
    loops.fill("margin_Joint", {"margin_of": "margin_over_rival"})
    loops.fill("margin_JointOneVsRest", {"margin_of": "margin_over_zero"})
    for what in ("target", "sign", "class"):
        loops.fill(f"wrong_{what}", {"wrong": f"wrong_{what}"})


def write_confidence(loops: Loops) -> None:
    """Write the rules that keep a confidence: four ways to a coefficient, and their ends."""
    for name in ("soft", "ConfidenceWeighted", "VarianceConfidenceWeighted"):
        loops.fill(f"quantile_{name}", {"quantile": f"{name}_quantile"}, phi="rule_phi")
    for name in ("ConfidenceWeighted", "VarianceConfidenceWeighted", "SoftConfidenceWeighted1",
                 "SoftConfidenceWeighted2"):  # fmt: skip
        loops.fill(f"alpha_{name}", {"alpha_of": f"{name}_alpha"}, phi="rule_phi", C="rule_C")
    for name in ("deviation", "variance"):
        renamed = {"bound": f"{name}_bound", "contraction_of": f"{name}_contraction"}
        loops.fill(f"bound_{name}", renamed)
    renamed = {f"rule_{what}": f"confidence_{what}" for what in ("coefficient", "contraction")}
    loops.fill("rule_confidence", renamed)


def write_spaces(loops: Loops) -> None:
    """Write the rows of features of each kind of model, and what moves its numbers."""
    linear = {name: f"linear_{name}" for name in ("product", "look", "length_of")}
    loops.fill("linear_product", linear)
    loops.fill("linear_look", linear)
    loops.fill("linear_length", linear, intercept="in_length")
    factor = "(1 / SQRT((real)n_components))"
    loops.fill("fourier_features", id="map", count="n_components", factor=factor)
    constant = "    if (stride > 2 * n_components)\n        features[stride - 1] = 1;"
    mapped = {name: f"mapped_{name}" for name in ("product", "look", "length_of")}
    loops.fill("mapped_look", mapped, id="map", constant=constant)
    loops.fill("mapped_length", mapped, square="(void)phi, 1 + (stride > 2 * n_components)")
    write_kernels(loops)
    kernel = {name: f"kernel_{name}" for name in ("product", "look", "length_of")}
    loops.fill("kernel_row", norm="kernel_norm(x)")
    loops.fill("kernel_look", kernel)
    loops.fill("kernel_length", kernel, diagonal="kernel_diagonal(x)")
    loops.fill("measure", {"measure": "first_measure"})
    loops.fill("variances", intercept="intercept", negligible="1e-15")
    loops.fill("measure_outputs", {"measure": "second_measure"}, intercept="intercept")
    step = "coefficients[k] * direction[j] / scale * total"
    companion = f"        if (averaged)\n            companions[place] += {step};"
    loops.fill("move", companion=companion)


def write_kernels(loops: Loops) -> None:
    """Write the kernels, with the support vectors of a model."""
    numbers = {"gamma": "kernel_gamma", "coef0": "kernel_coef0", "degree": "kernel_degree"}
    for name in ("square", "absolute", "inverse_norm", "dot", "power"):
        if name not in loops.used:
            loops.used.add(name)
            loops.fill(name)
    for name in KERNELS:
        value, product = loops.forms.VALUES[name]
        arguments = "x->values, x->n"
        if product == "dot":
            arguments = "x"
        elif product not in loops.used:
            loops.used.add(product)
            loops.fill(product)
        loops.fill(
            "kernel",
            id=name,
            product=f"{product}(support_vectors + i * n_features, {arguments})",
            value=Template(value).substitute(numbers, id="support"),
        )
        own = Template(loops.forms.diagonal(name)).substitute(numbers)
        loops.blocks.append(
            f"static real {name}_diagonal(const row *x)\n{{\n    (void)x;\n    return {own};\n}}\n"
        )
        loops.own |= {f"{name}_kernel", f"{name}_diagonal"}


def write_averages(loops: Loops) -> None:
    """Write the averages of models, and the scale of the numbers."""
    for kind in ("uniform", "decay", "exponential"):
        names = ("weight_of", "sum_of_weights")
        loops.fill(f"shares_{kind}", {name: f"{kind}_{name}" for name in names})
    loops.fill("lead_after")
    intercept = "    if (is_linear)\n        numbers[n_features] += step * intercept;"
    loops.fill("add_row", constant=intercept)
    renew = "    if (decays) {\n" + loops.filled("catch_up", growth="(real)1.5") + "\n    }\n"
    renew += "    if (period > 0) {\n" + loops.filled("renew_companions") + "\n    }"
    restart = "    if (period > 0) {\n" + loops.filled("restart_weights") + "\n    }"
    loops.fill("averaged_state", led="int64_t led", renew=renew, restart=restart)
    for kind in ("averaged", "plain"):
        names = {name: f"{kind}_{name}" for name in ("fold", "model_scores", "add")}
        loops.fill(f"{kind}_fold", names)
        first = "is_linear && steps - skipped < 1"
        loops.fill(f"{kind}_scores", names, first=first)
        loops.fill(f"{kind}_add", names)
    loops.fill("shrink", smallest="smallest_scale", largest="largest_scale")


def write_admission(loops: Loops) -> None:
    """Write what makes a row a support vector. Ages are those of the core."""
    norms = "    if (has_norms)\n        support_norms[slot] = inverse_norm(x);\n"
    place = "[k * stride + slot]"
    loops.fill(
        "put",
        norms=f"{norms}    ages[slot] = added++;",
        companion=f"        companions{place} = values{place} * total;",
    )
    moved = f"        companions{place} += share * coefficients[k] / scale * total;"
    loops.fill("add_at", moved=moved)
    clip = loops.filled("clip_coefficients", limit="largest_coefficient")
    grown = "shrink((real)budget / (real)(budget - 1));"
    rescale = {"uniform": f"        if (budget > 1)\n            {grown}\n{clip}"}
    loops.fill("norm_of")
    loops.fill("factor", jitter="jitter", rows="n_support")
    numbers = {name: f"policy_{name}" for name in ("nu", "eta", "price", "unit")}
    # Its matrix has rows of `stride` numbers; that is the budget when all of it is used.
    loops.fill("admit_dependence", {"admit": "admit_dependence"}, **numbers | {"bound": "stride"})
    loops.fill("admit_projectron", {"admit": "admit_projectron"}, full="n_support == budget",
               **numbers)  # fmt: skip
    for name in ADMISSIONS:
        loops.fill(f"admit_{name}", {"admit": f"admit_{name}"}, least="(real)0.03",
                   full="n_support == budget", similarity="similarity",
                   rescale=rescale.get(name, clip))  # fmt: skip


def write_step(loops: Loops) -> None:
    """Write `learn` and `body`, and what reads rows."""
    loops.used.add("single")
    loops.fill("single")
    steps = "    if (is_single)\n        single(x, n_features);"
    loops.fill("prepared", steps=steps, scored="n_features")
    loops.fill("target_state", rounding="(is_single ? 1e-7 : 1e-15)")
    which = loops.filled("class_factors", which="one_factor || k == (int32_t)y")
    loops.fill(
        "learn",
        rooms="",
        save="    const target_type before = target;\n    uint64_t drawn_from[4];\n"
        "    memcpy(drawn_from, generator, 32);",
        restore="        target = before;\n        memcpy(generator, drawn_from, 32);",
        targets="    if (standardised && !target_fixed)\n        y = take_up(y, weight);\n"
        "    if (standardised)\n        y = (y - target.mean) / target.scale;",
        lead="    const int64_t led = decays ? lead_after(current, predicting, y) : 0;",
        of="is_mapped ? &phi : x",
        factors=f"    if (has_factors) {{\n{which}\n    }}",
        more=" || (second_order && !all_finite(contractions, n_outputs))\n"
        "        || !is_finite(target.mean) || !is_finite(target.scale)",
        full="",
        dry="",
        advance="    count_model(led);",
        shrink="    noted[0] = noted_of(y, weight);\n    shrink_before(seen);",
        update="        update(x, &phi);",
    )
    units = "    if (standardised)\n        scores[0] = target.mean + target.scale * scores[0];"
    loops.fill("learner_body", room="", units=units)


def write_forest(loops: Loops) -> None:
    """Write how a row goes through trees, and how the experts of its cells score and learn it."""
    columns = {"number": "(n_axes - 2)", "sides": "(n_axes + n_directions)", "most": "4"}
    sizes = {"gaps": "n_gaps", "givers": "n_givers", "tables": "n_tables", "axes": "n_axes",
             "directions": "n_directions", "id": "trees"}  # fmt: skip
    bends = loops.filled("bend_columns", bends="n_bends", most="1e300", farthest="1e6", id="trees")
    groups = loops.filled("group_columns", groups="n_groups", orders="n_orders", id="trees")
    gaps = loops.filled("gap_columns", **sizes, **columns)
    others = [loops.filled(name, **sizes) for name in ("table_columns", "row_products")]
    more = "\n".join([bends, groups, f"    if (n_gaps > 0) {{\n{gaps}\n    }}", *others])
    loops.fill("scaled_row", id="trees", farthest="1e6", more=more)
    both = "real *sums = expert_sums, *above = expert_sums + record_length;"
    label = "n_outputs > 1 ? (k == (int32_t)y ? 1 : -1) : y > 0 ? 1 : -1"
    own = {"trees": "n_trees", "experts": "n_experts", "lower": "n_lower", "both": "n_both",
           "length": "record_length", "level": "4", "cells": "16", "offset": "offset",
           "unit": "unit", "sums": f"    {both}", "most_experts": "OKN_MOST_EXPERTS"}  # fmt: skip
    for name in ("forest_cells", "forest_scores"):
        loops.fill(name, **own)
    loops.fill("forest_body", {"body": "forest_body"}, **own)
    loops.fill("forest_goal", goal=f"n_labels > 0 ? ({label}) : (aims[k] - offset) / unit")
    clipped = "            if (n_labels > 0)\n                f = f > 1 ? 1 : f < -1 ? -1 : f;"
    given = {"keep": "0.999", "most_error": "2", "most_weight": "1e30", "prior": "10"}
    own["numbers"] = "(n_experts * (n_experts + 1) + 1)"
    loops.fill("forest_combination", clipped=clipped, least_error="least_error", **given, **own)
    told = "    memcpy(fresh, combination, $numbers * sizeof(real));\n"
    told += "    if (n_experts > 1)\n        combine(y, weight, fresh);"
    names = {"learn": "forest_learn", "move": "move_cells"}
    combine = Template(told).substitute(own)
    held = {"longest": "10", "far": "5", "explained": "0.6", "trusted": "4", "fewest": "50",
            "window": "200", "kept": "0.99", "kept_squares": "(0.99 * 0.99)",
            "most_said": "1e6", "farthest": "1e30"}  # fmt: skip
    loops.fill("forest_held", **held, **own)
    hold = "    memcpy(held_next, held, OKN_HELD * sizeof(real));\n"
    hold += "    aims[0] = holds ? hold(0, y, held_next) : y;"
    known = "    memcpy(held, held_next, OKN_HELD * sizeof(real));"
    loops.fill("forest_learn", names, combine=combine, most_step="1e30", hold=hold, known=known,
               **own)  # fmt: skip


def main() -> None:
    """Write the file that the command names, and perhaps of which files it is made, for ninja."""
    loops = Loops()
    for write in (write_parts, write_averages, write_spaces, write_admission, write_step,
                  write_forest):  # fmt: skip
        write(loops)
    Path(sys.argv[1]).write_text(loops.text(), encoding="ascii")
    for dependencies in sys.argv[2:]:
        read = [FOLDER / name for name in ("sections.py", "reentrant.py", *loops.forms.FILES)]
        names = " ".join(str(path).replace(" ", "\\ ") for path in read)
        Path(dependencies).write_text(f"{sys.argv[1]}: {names}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
