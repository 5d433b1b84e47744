"""Learning in C of weights: of a row, or of the features of a map."""

from __future__ import annotations

from onlinekern.fitted.export.c.learn import LearningWriter
from onlinekern.fitted.export.c.rules import NEGLIGIBLE
from onlinekern.fitted.export.c.terms import write_features
from onlinekern.fitted.export.states import LinearState, MappedState
from onlinekern.fitted.export.terms import Fourier


class LinearWriter(LearningWriter):
    """Writer of weights of the features of a row, which may have variances."""

    state: LinearState
    is_linear = True

    @property
    def second_order(self) -> bool:
        return self.state.variances is not None

    def scale_ends(self) -> tuple[float, float]:
        return (1e-3 if self.averaged else 1e-30), 1e30

    def write_row(self) -> None:
        state, intercept = self.state, self.number(self.state.intercept)
        self.fill("linear_product")
        self.fill("linear_look")
        if self.second_order:
            self.write_variances()
            return
        length = intercept if self.continues else self.number(state.in_length)
        self.fill("linear_length", intercept=length)
        constant = f"    numbers[{self.size.features}] += step * {intercept};"
        self.fill("add_row", constant=constant)

    def write_variances(self) -> None:
        """Write the functions `measure` and `move`."""
        source, size = self.source, self.size
        source.state("variances", self.state.variances)
        source.memory("directions", size.outputs * size.length)
        source.memory("contractions", size.outputs)
        intercept = self.number(self.state.intercept)
        self.fill("variances", intercept=intercept, negligible=self.number(NEGLIGIBLE))
        self.fill("measure_outputs", intercept=intercept)
        step = "        companions[place] += coefficients[k] * direction[j] / scale * total;"
        self.fill("move", companion=self.if_averaged(step))

    def write_addition(self, kind: str) -> None:
        if not self.second_order:
            self.fill(f"{kind}_add")


class MappedWriter(LearningWriter):
    """Writer of weights of the features of a map, or of the mean of the features."""

    state: MappedState
    row = "&phi"

    @property
    def scales(self) -> bool:
        return super().scales or self.state.mean is not None

    def write_row(self) -> None:
        state, length = self.state, self.size.length
        self.source.memory("features", length)
        write_features(self.source, "map", state.map)
        constant = f"    features[{length - 1}] = 1;" if state.constant else ""
        self.fill("mapped_look", id="map", constant=constant)
        if isinstance(state.map, Fourier):
            square = f"(void)phi, {1 + state.constant}"
        else:
            self.source.use("square")
            square = "square(phi)"
        self.fill("mapped_length", square=square)
        self.fill("add_row", constant="")

    def write_addition(self, kind: str) -> None:
        self.fill(f"{kind}_add")

    def shrinking(self) -> str:
        mean = self.state.mean
        if mean is None:
            return super().shrinking()
        self.source.scalar("mean_weight", mean.weight)
        forgotten = f"{self.number(mean.forgetting)} * mean_weight + coefficients[0]"
        return f"    mean_weight = {forgotten};\n    shrink(1 - coefficients[0] / mean_weight);"

    def moving(self) -> str:
        if self.state.mean is None:
            return super().moving()
        return "        add(0, &phi, coefficients[0] / mean_weight);"
