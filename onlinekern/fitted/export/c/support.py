"""Learning in C of support vectors: policies that admit new ones, and their largest number."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from onlinekern.fitted.export import states
from onlinekern.fitted.export.c.learn import LearningWriter
from onlinekern.fitted.export.c.policies import POLICIES, RIDGE, Policy, write_inverse
from onlinekern.fitted.export.c.terms import diagonal_of, write_features, write_kernel
from onlinekern.fitted.export.states import KernelState, Slots

# Added to the diagonal of factored kernel matrices, for kernel values in double and in single
# precision, as in `core.linalg.cholesky`.
JITTERS = {False: 1e-8, True: 1e-5}


class KernelWriter(LearningWriter):
    """Writer of support vectors that change under a policy."""

    state: KernelState

    @cached_property
    def policy(self) -> Policy:
        """The C code of the policy."""
        return POLICIES[self.state.policy.name]

    @property
    def most(self) -> int | None:
        """Bound of the policy on the number of support vectors."""
        return self.state.policy.arguments.get("max_support")

    def length_of(self, length: int, capacity: int | None) -> int:
        self.room = self.room_for(capacity)
        return length if self.state.beside else self.room

    def draws_numbers(self, learning: states.Learning) -> bool:
        return self.policy.draws or super().draws_numbers(learning)

    @property
    def scales(self) -> bool:
        return self.policy.shrinks or super().scales

    def room_for(self, capacity: int | None) -> int:
        """Return the number of support vectors to reserve memory for.

        Raises
        ------
        ValueError
            If neither the policy nor `capacity` gives a bound, or `capacity` is too small.
        """
        state, most, known = self.state, self.most, len(self.state.vectors)
        if not state.unbounded:
            # A new support vector is stored before another one is evicted, so one more slot is
            # needed.
            after = state.slots is not None and state.policy.name != "Halving"
            return int(most) + after if most is not None else 0
        room = capacity if capacity is not None else most
        if room is None:
            raise ValueError(
                "capacity must say for how many support vectors there is room: the learner has no "
                f"budget, and {known} of them now: capacity={2 * known} lets it grow to twice that"
            )
        if room < max(1, known):
            raise ValueError(
                f"capacity must be at least {max(1, known)}, the number of support vectors that "
                f"are there, got {room}"
            )
        return int(room if most is None else min(room, most))

    def write_row(self) -> None:
        source, state, room = self.source, self.state, self.room
        source.memory("features", self.size.length)
        source.counter("n_support", len(state.vectors), "int32_t", room)
        vectors = state.vectors.reshape(-1, self.size.features)
        norm = write_kernel(source, "support", state.kernel, vectors, room)
        self.fill("kernel_row", norm=norm)
        if state.beside is None:
            self.fill("kernel_look")
        else:
            beside = []
            if state.beside.map is not None:
                write_features(source, "map", state.beside.map)
                beside.append(f"    map_features(x, features + {room});")
            if state.beside.offset:
                beside.append(f"    features[{self.size.length - 1}] = 1;")
            self.fill("beside_look", beside="\n".join(beside), slots=room)
        self.fill("kernel_length", diagonal=diagonal_of(source, state.kernel))

    def write_addition(self, kind: str) -> None:
        """Write the functions `put` and `admit`."""
        norms = "    support_norms[slot] = inverse_norm(x);"
        place = f"[k * {self.size.length} + slot]"
        companion = self.if_averaged(f"        companions{place} = values{place} * total;")
        is_cosine = self.state.kernel.name == "cosine"
        self.fill("put", norms=norms * is_cosine, companion=companion)
        self.write_memory()
        given = self.policy.write(self, self.state, self.room)
        self.fill(f"admit_{self.policy.form}", bound=self.most or 0, slots=self.room, **given)

    def write_memory(self) -> None:
        """Write the further state of policies, and the functions that change it."""
        policy, source, state = self.policy, self.source, self.state
        if policy.draws:
            source.use("generator")
        if policy.takes_turns or state.slots is not None:
            source.counter("n_added", state.added)
        if policy.measures:
            source.state("lengths", state.lengths, self.room)
        if state.slots is not None:
            self.write_slots(state.slots)
        if policy.noted:
            source.memory("noted", len(policy.noted))
        if "factor" in state.matrices:
            self.write_factor()
        if state.slots is not None or policy.form == "nonuniform":
            self.fill("norm_of")
        if "inverse" in state.matrices:
            write_inverse(self, state, self.room)
        if state.slots is not None:
            size = policy.size.format(next=self.room + 1, ridge=self.number(RIDGE))
            self.fill("smallest", size=size)

    def write_slots(self, slots: Slots) -> None:
        """Write ages of slots and free slots, and the functions that take and free a slot."""
        source, room = self.source, self.room
        source.whole_numbers("ages", slots.ages, "int64_t", room)
        source.whole_numbers("free_slots", slots.free, "int32_t", room, room - 1)
        source.counter("n_free", len(slots.free), "int32_t", room)
        companion = f"        companions[k * {self.size.length} + slot] = 0;"
        self.fill("slots", companion=self.if_averaged(companion), slots=room)

    def write_factor(self) -> None:
        """Write the Cholesky factor of the support vectors, and other matrices of the policy."""
        source, known, room = self.source, self.state.matrices, self.room
        rows, columns = np.tril_indices(len(self.state.vectors))
        source.state("factor", known["factor"][rows, columns], room * (room + 1) // 2)
        if "covariance" in known:
            self.corner("covariance", known["covariance"], room, room)
            source.memory("gain", room)
        source.memory("half", room)
        source.memory("solution", room)
        single = self.state.single or source.dtype == np.float32
        self.fill("factor", jitter=self.number(JITTERS[single]), rows="n_support")

    def when_full(self, restore: list[str]) -> str:
        most = self.most
        if not self.state.unbounded or (most is not None and self.room >= most):
            return ""
        more = " && is_added(&phi)" if self.state.policy.name == "Quantise" else ""
        lines = [
            f"    if (moves && n_support == {self.room}{more}) {{",
            *("        " + line.strip() for line in restore),
            f"        return {self.source.names['PREFIX']}_FULL;",
            "    }",
        ]
        return "\n".join(lines)

    def shrinking(self) -> str:
        noted = [f"    noted[{place}] = {each};" for place, each in enumerate(self.policy.noted)]
        return "\n".join(filter(None, [super().shrinking(), *noted]))

    def moving(self) -> str:
        return "        admit(x, &phi);"
