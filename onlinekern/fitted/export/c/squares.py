"""Learning in C by recursive least squares, also for detectors whose scores are leverages."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.core.linalg.evidence import AT_ONCE, CHOICES
from onlinekern.fitted.export.c.joint import JointWriter
from onlinekern.fitted.export.c.terms import diagonal_of
from onlinekern.fitted.export.states import SquaresState, Sums

# Least unexplained share of the squares of the targets, as in `linalg.evidence`.
LEAST_SHARE = 1e-12


class SquaresWriter(JointWriter):
    """Writer of recursive least squares on joint features; scores may be leverages."""

    state: SquaresState
    follows_rule = False

    def write_products(self) -> list[str]:
        lines, state = [], self.state
        if state.leverage and self.landmarks is not None:
            # Kernel value of a row with itself.
            self.source.memory("own_length", 1)
            lines.append(f"    own_length[0] = {diagonal_of(self.source, self.landmarks.kernel)};")
        if state.sums is not None:
            # Growth of the weights of samples, which replaces forgetting.
            name = "larger_weights" if state.sums.forgetting < 1 else "same_weights"
            self.fill(name, **{"lambda": self.number(state.sums.forgetting)})
        return lines if state.leverage else [*lines, *super().write_products()]

    def write_scores(self, kind: str) -> None:
        if not self.state.leverage:
            super().write_scores(kind)
            return
        rest = ""
        if self.landmarks is not None:
            least = float(np.sqrt(np.finfo(self.source.dtype).eps))
            rounding = self.number(max(self.state.rounding, least))
            rest = self.filled("beyond_features", rounding=rounding)
        fade = "" if self.state.sums is None else "    variance *= weight_after(since);"
        self.fill("leverage_scores", rest=rest, fade=fade)

    def write_learn(self) -> None:
        """Write the functions `consider`, `enter` and `learn`."""
        source, length = self.source, self.size.length
        self.corner("inverse", self.state.inverse, length, length)
        source.scalar("reg", self.state.reg)
        source.counter("entered", self.state.entered)
        source.memory("direction", length)
        added = f"            inverse[phi.n * ({length} + 1)] = 1 / "
        if self.state.sums is None:
            grow = self.growing(f"{added}reg;")
            self.fill("enter")
            enter = "        enter(&phi, importance);"
        else:
            enter = self.write_sums(self.state.sums)
            prior = "(reg * weight_after(since))"
            more = f"{added}{prior};\n            sums[phi.n * (phi.n + 3) / 2] = {prior};"
            grow = self.growing(more)
        target, margin = self.target_and_margin()
        save, restore = self.kept()
        targets, checks = self.standardising()
        source.use("all_finite")
        self.fill(
            "learn_squares",
            noted=self.write_recent().format("scores[0]"),
            save="\n".join(save),
            targets="\n".join(targets),
            target=target,
            margin=margin,
            more=checks,
            restore="\n".join("    " + line for line in restore),
            dry=self.trial("scores", restore),
            consider=grow,
            enter=enter,
        )

    def target_and_margin(self) -> tuple[str, str]:
        """Return the target of output k, and the arguments of the sampler: score and target."""
        if self.state.leverage:
            return "scores[k]", "scores[0], y"  # leverages have no target
        head = self.learning.head.name
        if head in ("Joint", "JointOneVsRest"):
            self.fill(f"margin_{head}")
            return "k == (int32_t)y ? 1 : -1", "margin_of(scores, (int32_t)y), 1"
        if head == "Binary":
            return "y > 0 ? 1 : -1", "scores[0], y > 0 ? 1 : -1"
        return "y", "scores[0], y"

    def write_sums(self, sums: Sums) -> str:
        """Write the sums, and the solution from them; return the lines that learn a row."""
        source, size = self.source, self.size
        rows, columns = np.tril_indices(len(sums.matrix))
        source.state("sums", sums.matrix[rows, columns], size.length * (size.length + 1) // 2)
        self.corner("vectors", sums.vectors, size.outputs, size.length)
        source.counter("since", sums.since, "int32_t", max(1, sums.epoch - 1))
        source.counter("in_block", sums.count, "int32_t", max(1, sums.block - 1))
        single = source.dtype == np.float32
        given: dict[str, Any] = {"used": self.used, "block": sums.block, "epoch": sums.epoch}
        given |= {"fade_evidence": "", "note_evidence": ""}
        given["extra"] = self.number(1e-6 if single else 1e-15)
        if sums.follows:
            source.state("evidence", sums.evidence[:-1])
            source.counter("counted", round(sums.evidence[-1]))
            source.scalar("coming", sums.coming)
            source.constants("regs", CHOICES)
            for name in ("fade_evidence", "note_evidence"):
                given[name] = self.filled(name)
            given["largest"] = self.largest
            given["share"] = self.number(1e-6 if single else LEAST_SHARE)
            given |= {"choices": len(CHOICES), "below": sums.below}
            later = self.filled("choose_later", at_once=AT_ONCE) if sums.forgetting == 1 else ""
            given["choose_later"] = later
        self.fill("enter")
        self.fill("sums", **given)
        self.fill("choice" if sums.follows else "no_choice", **given)
        ends = "epoch_ends" if sums.forgetting < 1 else "epoch_ends_early"
        given["renewed"] = self.filled(ends, early=3 * sums.block // 4, **given)
        self.fill("take_up", **given)
        goal = "0" if self.state.leverage else "scores[k] + coefficients[k]"
        return self.filled("take_up_targets", goal=goal)
