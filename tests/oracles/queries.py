"""Which labels are asked for, sample by sample, from the equations."""

import math

import numpy as np


class Query:
    """The decisions of `LabelQuery` on a series of certainties."""

    def __init__(self, seed, budget, strategy, threshold=1.0, step=0.01, explore=0.2):
        self.draws = np.random.Generator(np.random.PCG64(seed))
        self.budget, self.strategy, self.step, self.explore = budget, strategy, step, explore
        self.threshold, self.part, self.spent = threshold, budget, 0.0
        self.past, self.number = [], 0

    def decide(self, certainty):
        chance, explores, one, two = self.draws.random(4)
        asked = self.asks(certainty, chance < self.budget, explores < self.explore, one, two)
        self.spent = 0.99 * self.spent + asked
        self.number += 1
        return asked

    def asks(self, c, by_chance, explores, one, two):
        if math.isnan(c):
            return self.number == 0 or by_chance
        if self.strategy == "random":
            return by_chance
        if self.strategy == "quantile":
            last = self.past[-256:]
            equal = sum(p == c for p in last) + 1
            rank = (sum(p < c for p in last) + one * equal) / (len(last) + 1)
            asked = by_chance if explores else rank < self.part
            self.past.append(c)
            self.part += 0.01 * (self.budget - asked)
            return asked
        if self.spent / 100 >= self.budget:
            return False
        if explores:
            return by_chance
        normal = math.sqrt(-2 * math.log(1 - one)) * math.cos(2 * math.pi * two)
        asked = c < self.threshold * (1 + normal if self.strategy == "randomized" else 1)
        if self.strategy != "fixed":
            self.threshold *= 1 - self.step if asked else 1 + self.step
        return asked
