"""Learning in C of weights of joint features: growing landmarks, a metric, a covariance."""

from __future__ import annotations

import numpy as np

from onlinekern.core.features.nested import MOST_ROUNDING
from onlinekern.fitted.export.c.learn import LearningWriter
from onlinekern.fitted.export.c.rules import NEGLIGIBLE
from onlinekern.fitted.export.c.terms import diagonal_of, write_features, write_kernel
from onlinekern.fitted.export.states import ConfidentState, JointState, Landmarks


class JointWriter(LearningWriter):
    """Writer of joint features, common to all models that use them."""

    state: JointState
    row = "&phi"

    @property
    def landmarks(self) -> Landmarks | None:
        """The landmarks of the map, if it has some."""
        return self.state.map if isinstance(self.state.map, Landmarks) else None

    def length_of(self, length: int, capacity: int | None) -> int:
        own = self.landmarks
        return length if own is None else length + own.room - len(own.vectors)

    @property
    def base(self) -> int:
        """Position of the first feature of the map."""
        elements = self.size.features if self.state.factor is not None else 0
        return elements + self.state.constant

    @property
    def used(self) -> str:
        """Expression for the current number of features."""
        return str(self.size.length) if self.landmarks is None else f"({self.base} + n_landmarks)"

    def write_row(self) -> None:
        state = self.state
        self.source.memory("features", self.size.length)
        lines, given = [], "x"
        if state.root is not None:
            lines.append(self.write_metric())
            given = "&moved"
        if isinstance(state.map, Landmarks):
            self.write_landmarks(state.map)
            lines.append(f"    landmark_features({given}, features + {self.base});")
        elif state.map is not None:
            write_features(self.source, "map", state.map)
            lines.append(f"    map_features({given}, features + {self.base});")
        lines += self.write_products()
        linear = ""
        if state.factor is not None:
            linear = self.filled("own_elements", factor=self.number(state.factor))
        constant = f"    features[{self.base - 1}] = 1;" if state.constant else ""
        more = {"constant": constant, "mapped": "\n".join(lines), "used": self.used}
        self.fill("squares_look", linear=linear, **more)

    def write_products(self) -> list[str]:
        """Write the function `product`; return further lines of `look`."""
        self.fill("squares_product")
        return []

    def write_landmarks(self, own: Landmarks) -> None:
        """Write the landmarks, and the function that computes their features."""
        source, n, room = self.source, len(own.vectors), own.room
        source.fixed = own.fixed
        source.counter("n_landmarks", n, "int32_t", room)
        source.memory("kernel_values", room)
        padded = np.zeros((room, room))
        padded[:n, :n] = own.whitening
        # If no landmark can be added, they stay in flash.
        write = source.constants if own.fixed else source.state
        write("whitening", padded)
        vectors = own.vectors.reshape(-1, self.size.features)
        norm = write_kernel(source, "support", own.kernel, vectors, None if own.fixed else room)
        self.fill("landmark_features", norm=norm, room=room)

    def write_metric(self) -> str:
        """Write the metric of the map; return the lines that transform a row."""
        root = self.state.root
        assert root is not None
        self.source.constants("metric_root", root)
        self.source.memory("moved_row", self.size.features)
        self.fill("weighed_row" if root.ndim == 1 else "turned_row")
        return "    row moved;\n    move_row(x, &moved);"

    def growing(self, more: str = "") -> str:
        """Write the function `consider`; return the lines that call it, if there is room to grow.

        `more` are lines that initialise a new feature.
        """
        own, is_moved = self.landmarks, self.state.root is not None
        if own is None or len(own.vectors) == own.room:
            return ""
        steepest = min(own.steepest, MOST_ROUNDING / float(np.finfo(self.source.dtype).eps))
        self.fill(
            "consider",
            room=own.room,
            diagonal=diagonal_of(self.source, own.kernel),
            least=self.number(own.least),
            steepest=self.number(steepest),
            norms="    support_norms[n] = inverse_norm(x);" * (own.kernel.name == "cosine"),
        )
        moved = f"        const row moved = {{moved_row, 0, {self.size.features}}};\n"
        return self.filled(
            "grow",
            row="&moved" if is_moved else "x",
            moved=moved * is_moved,
            asked="importance > 0" if own.only_entered else "1",
            base=self.base,
            more=more,
        )


class ConfidentWriter(JointWriter):
    """Writer of weights of joint features with a covariance."""

    state: ConfidentState
    second_order = True

    @property
    def is_linear(self) -> bool:
        return self.state.linear

    def write_row(self) -> None:
        super().write_row()
        self.write_covariance()

    def write_covariance(self) -> None:
        """Write the covariance, and the functions `measure` and `move_along`."""
        source, length, own = self.source, self.size.length, self.state.covariance
        matrices, width = own.shape[:2]
        # A feature that is added later begins with the variance 1.
        padded = np.ones((matrices, length))
        if own.ndim == 3:
            padded = np.tile(np.eye(length), (matrices, 1, 1))
            padded[:, :width, :width] = own
        else:
            padded[:, :width] = own
        source.state("covariance", padded)
        source.memory("directions", matrices * length)
        source.memory("contractions", self.size.outputs)
        self.fill("direction_matrix" if own.ndim == 3 else "direction_diagonal")
        step = "coefficients[k] * direction[f] / scale * total"
        companion = self.if_averaged(f"            companions[k * {length} + f] += {step};")
        negligible = self.number(NEGLIGIBLE)
        self.fill("confidence", matrices=matrices, companion=companion, negligible=negligible)

    def write_growth(self, save: list[str], restore: list[str], lead: list[str]) -> None:
        if grow := self.growing():
            save.append("    const int32_t known = n_landmarks;")
            restore.append("    n_landmarks = known;")
            lead.append(grow)

    def moving(self) -> str:
        return "        move_along(&phi);"
