"""Simulate the clock of a run on a cluster: reading, serialisation, slow and dying workers.

    python benchmarks/cluster_model.py FOLDER [--staleness S] [--back SECONDS] [--speed S]
        [--outlook]

Learners and workers do what `onlinekern.distributed.fit` does. A learner's part is a task, of a
model and the part: it loads the model, makes or reads the rows, learns them, and dumps the model.
A worker that is free takes the oldest task that is ready, one whose model it has if there is one;
else the model is moved. Round r begins when the model of round r - 1 - staleness is there. A worker
that dies loses the models that it has; their learners begin the round anew. The costs are those
that `real_run.py FOLDER` has measured in its step `costs`. On a machine that others use too, a
worker has a share of a core, which is fitted to the clock of `calm-0`, or to that of the parts
before the kill, and a worker that is stopped half of the time need not have half the speed: it is
fitted to the clock of `slow-0`. The clock of the other runs and stretches is compared with that of
the model. `--outlook` tells the speed-up of more workers, of which one has half the speed, or one
in a hundred dies.
"""

import argparse
import heapq
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

FAN_IN = 8
# In the place of a learner: the merge of a round, on a worker as well.
MERGE = -1


@dataclass(frozen=True)
class Costs:
    """Seconds of the steps of a run on a worker that has a core of its own.

    Attributes
    ----------
    read, learn : float
        Seconds a row.
    load, dump : float
        Seconds in which a model becomes an object, and bytes.
    task : float
        Seconds between a task's end and the next one's begin.
    merge : float
        Seconds to merge, for each model; eight at a time.
    size : float
        Bytes of a model.
    bandwidth, latency : float
        Bytes a second; seconds a message.
    """

    read: float
    learn: float
    load: float = 0.0
    dump: float = 0.0
    task: float = 0.0
    merge: float = 0.0
    size: float = 0.0
    bandwidth: float = 1e9
    latency: float = 1e-3

    def part(self, n):
        """Return the seconds of a task of n rows."""
        return self.load + n * (self.read + self.learn) + self.dump + self.task

    def move(self):
        """Return the seconds in which a model comes from another machine."""
        return self.latency + self.size / self.bandwidth

    def merged(self, n_learners):
        """Return the seconds of a tree of merges."""
        seconds, left = 0.0, n_learners
        while left > 1:
            width = min(left, FAN_IN)
            seconds += width * (self.merge + self.size / self.bandwidth) + 2 * self.latency
            left = -(-left // FAN_IN)
        return seconds


@dataclass(frozen=True)
class Fate:
    """What happens to a worker while shares of the parts are learnt.

    Attributes
    ----------
    worker : int
    begin, end : float
        Shares of the parts.
    speed : float
        0: it dies at the begin, and is back after `back` seconds.
    back : float
    """

    worker: int
    begin: float
    end: float = 1.0
    speed: float = 0.0
    back: float = 0.0


class Simulation:
    """A run, task by task.

    Parameters
    ----------
    costs : Costs
    n_parts, rows, n_rounds, n_learners, n_workers, staleness : int
        `rows` are those of a part.
    fates : iterable of Fate
    """

    def __init__(
        self, costs, n_parts, rows, n_rounds, n_learners, n_workers, staleness=0, fates=()
    ):
        self.costs, self.rows, self.n_workers = costs, rows, n_workers
        self.n_parts, self.staleness, self.fates = n_parts, staleness, list(fates)
        self.shares = [
            [len(stretch[k::n_learners]) for k in range(n_learners)]
            for stretch in np.array_split(np.arange(n_parts), n_rounds)
        ]
        self.now, self.done, self.moves, self.lost = 0.0, 0, 0, 0
        self.events, self.number = [], 0
        # When so many parts were learnt.
        self.reached = {0: 0.0}
        self.free, self.running = set(range(n_workers)), {}
        # Of a chain (round, learner): the steps that are done, and where its model is.
        self.steps, self.place, self.ready = {}, {}, []
        self.merged, self.begun = 0, 0

    def run(self):
        """Return the seconds of the whole run."""
        self._begin_rounds()
        while self.merged < len(self.shares):
            self._give()
            self.now, _, kind, what = heapq.heappop(self.events)
            getattr(self, f"_{kind}")(*what)
        return self.now

    def _at(self, seconds, kind, *what):
        self.number += 1
        heapq.heappush(self.events, (self.now + seconds, self.number, kind, what))

    def _begin_rounds(self):
        while self.begun < len(self.shares) and self.begun - self.merged <= self.staleness:
            for k, n_steps in enumerate(self.shares[self.begun]):
                if n_steps:
                    self.steps[self.begun, k], self.place[self.begun, k] = 0, None
                    heapq.heappush(self.ready, (self.begun, 0, k))
            self.begun += 1

    def _speed(self, worker):
        share = self.done / self.n_parts
        own = [one.speed for one in self.fates
               if one.worker == worker and one.speed and one.begin <= share < one.end]  # fmt: skip
        return min(own, default=1.0)

    def _give(self):
        """Give tasks that are ready to workers that are free."""
        while self.free and self.ready:
            number, step, k = task = self.ready[0]
            at = self.place[number, k]
            worker = at if at in self.free else min(self.free)
            own = [one for one in self.ready if self.place[one[0], one[2]] == worker]
            if at != worker and own:
                number, step, k = task = min(own)
            self.ready.remove(task)
            heapq.heapify(self.ready)
            self.free.remove(worker)
            if k == MERGE:
                self.running[worker] = number, k, self.number
                self._at(self.costs.merged(step), "round", worker, self.number)
                continue
            moved = self.place[number, k] != worker
            self.moves += moved
            seconds = self.costs.part(self.rows) / self._speed(worker)
            self.running[worker] = number, k, self.number
            what = worker, number, k, step, self.number
            self._at(seconds + moved * self.costs.move(), "learnt", *what)

    def _learnt(self, worker, number, k, step, name):
        if self.running.get(worker) != (number, k, name):
            # The worker has died meanwhile.
            return
        del self.running[worker]
        self.free.add(worker)
        self.steps[number, k], self.place[number, k] = step + 1, worker
        self.done += 1
        self.reached[self.done] = self.now
        if step + 1 < self.shares[number][k]:
            heapq.heappush(self.ready, (number, step + 1, k))
        self._end_rounds()
        self._die()

    def _end_rounds(self):
        """Merge the oldest round if its models are there."""
        number = self.merged
        chains = [(key, n) for key, n in self.steps.items() if key[0] == number]
        if chains and all(n == self.shares[number][key[1]] for key, n in chains):
            for key, _ in chains:
                del self.steps[key], self.place[key]
            self.moves += len(chains)
            self.place[number, MERGE] = None
            heapq.heappush(self.ready, (number, len(chains), MERGE))

    def _round(self, worker, name):
        if self.running.get(worker) != (self.merged, MERGE, name):
            return
        del self.running[worker]
        self.free.add(worker)
        del self.place[self.merged, MERGE]
        self.merged += 1
        self._begin_rounds()
        self._end_rounds()

    def _die(self):
        for fate in [one for one in self.fates if not one.speed]:
            if self.done / self.n_parts < fate.begin:
                continue
            self.fates.remove(fate)
            worker = fate.worker
            self.free.discard(worker)
            stopped = self.running.pop(worker, None)
            for (number, k), at in list(self.place.items()):
                if at == worker or (stopped and (number, k) == stopped[:2]):
                    self._again(number, k, at == worker)
            self._at(fate.back, "back", worker)

    def _again(self, number, k, is_lost):
        """Let a learner begin anew: its round, if its model is lost, else its part."""
        # The models that are merged are known to be elsewhere: they are merged again.
        step = self.steps.get((number, k), len(self.shares[number]))
        runs = (number, k) in [one[:2] for one in self.running.values()]
        if is_lost and not runs:
            self.done, self.lost = self.done - step, self.lost + step
            if (number, step, k) in self.ready:
                self.ready.remove((number, step, k))
            self.steps[number, k], self.place[number, k], step = 0, None, 0
        if not runs:
            heapq.heappush(self.ready, (number, step, k))

    def _back(self, worker):
        self.free.add(worker)


def unsteady(costs, n_workers, rows, staleness, *, slow=False, dies=False):
    """Return the speed-up over one stream of a billion rows."""
    n_parts = 10**9 // rows
    n_rounds = max(1, min(50, n_parts // (2 * n_workers)))
    fates = [Fate(0, 0.0, 1.0, 0.5)] if slow else []
    if dies:
        # One in a hundred workers, at least one, dies in the run.
        dying = range(1, 1 + -(-n_workers // 100))
        fates += [Fate(k, k / (len(dying) + 1), back=20.0) for k in dying]
    run = Simulation(costs, n_parts, rows, n_rounds, n_workers, n_workers, staleness, fates)
    return 1e9 * (costs.read + costs.learn) / run.run()


def costs_of(told):
    """Return the costs that the step `costs` of `real_run.py` has measured for a learner."""
    read, whole = told["make, us/row"] / 1e6, told["task, us/row"] / 1e6
    once = (told["load, s"] + told["dump, s"]) / told["rows"]
    return Costs(read, whole - read - once, told["load, s"], told["dump, s"], 0.01,
                 told["merge of two, s"] / 2, told["model, bytes"])  # fmt: skip


def shared(costs, share):
    """Return the costs of workers that get a share of a core."""
    names = ("read", "learn", "load", "dump", "task", "merge")
    return replace(costs, **{name: getattr(costs, name) / share for name in names})


def calibrated(seconds, clock):
    """Return the share of a core, or of a speed, with which a clock gives what was measured."""
    low, high = 0.01, 1.0
    for _ in range(12):
        share = (low + high) / 2
        low, high = (share, high) if clock(share) > seconds else (low, share)
    return share


def steps_against(costs, results):
    """Print the clock of the runs with a slow worker, and of those with none, beside the model's.

    The share of a core that a worker got is that of `calm-0`, the speed of a slow one that of
    `slow-0`.
    """
    runs = {step: told for step, told in results.items() if step[:5] in ("calm-", "slow-")}

    def clock(costs, step, speed):
        told = runs[step]
        fates = [Fate(1, 0.0, 1.0, speed)] if step.startswith("slow") else []
        run = Simulation(costs, told["rows"] // told["part"], told["part"], told["rounds"], 2, 2,
                         int(step[5:]), fates)  # fmt: skip
        return run.run()

    calm = runs["calm-0"]["seconds"]
    share = calibrated(calm, lambda share: clock(shared(costs, share), "calm-0", 1.0))
    costs = shared(costs, share)
    speed = calibrated(runs["slow-0"]["seconds"], lambda speed: clock(costs, "slow-0", speed))
    print(f"share of a core: {share:.2f}, speed of the slow worker: {speed:.2f}")
    print("| run | measured, s | simulated, s |\n|---|---|---|")
    for step, told in runs.items():
        print(f"| {step} | {told['seconds']:.0f} | {clock(costs, step, speed):.0f} |")


def trace_of(path):
    """Return when so many parts were learnt, in a run that was not stopped."""
    found = {}
    for line in path.read_text().splitlines():
        seconds, done, text = line.split(",")
        if text.startswith("round"):
            found[int(done)] = float(seconds)
    return found


def stretches_against(costs, told, trace, staleness, back, speed):
    """Print the seconds of the stretches of the run with a kill and a slow worker."""
    n_parts = told["rows"] // told["part"]
    at = {name: round(share * n_parts) for name, share in
          (("before", 0.3), ("kill", 0.5), ("slow", 0.75), ("after", 1.0))}  # fmt: skip
    fates = [Fate(0, 0.3, back=back), Fate(1, 0.5, 0.75, speed)]

    def reached(costs):
        run = Simulation(costs, n_parts, told["part"], told["rounds"], 2, 2, staleness, fates)
        run.run()
        return run.reached

    share = calibrated(
        trace[at["before"]], lambda share: reached(shared(costs, share))[at["before"]]
    )
    model = reached(shared(costs, share))
    print(f"share of a core: {share:.2f}\n| stretch | measured, s | simulated, s |\n|---|---|---|")
    last = min(trace)
    for name, end in at.items():
        found = trace[end] - trace[last]
        print(f"| {name} | {found:.0f} | {model[end] - model.get(last, 0.0):.0f} |")
        last = end


def outlook(costs):
    """Print the speed-up of a billion rows over one stream, on machines with 1 Gbit/s."""
    costs = replace(costs, bandwidth=125e6)
    print("| workers | staleness | speed-up | one slow | some die |\n|---|---|---|---|---|")
    for n_workers in (4, 16, 64, 256):
        for staleness in (0, 1, 2):
            rows = min(10**6, 10**9 // (20 * n_workers))
            found = [unsteady(costs, n_workers, rows, staleness, **what)
                     for what in ({}, {"slow": True}, {"dies": True})]  # fmt: skip
            print(f"| {n_workers} | {staleness} | " + " | ".join(f"{x:.1f}" for x in found) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--staleness", type=int, default=1, help="of the steps pa, fogd and rls")
    parser.add_argument("--back", type=float, default=20, help="seconds until a worker is back")
    parser.add_argument("--speed", type=float, default=0.5, help="of the slow worker")
    parser.add_argument("--outlook", action="store_true", help="more workers")
    options = parser.parse_args()
    lines = (options.folder / "results.jsonl").read_text().splitlines()
    results = {told["step"]: told for told in map(json.loads, lines)}
    for name in ("pa", "fogd", "rls"):
        costs = costs_of(results["costs"][name])
        if name == "pa" and "calm-0" in results:
            steps_against(costs, results)
        if name in results:
            print(name)
            trace = trace_of(options.folder / f"{name}.csv")
            stretches_against(costs, results[name], trace, options.staleness, options.back,
                              options.speed)  # fmt: skip
        if options.outlook:
            print(name)
            outlook(costs)


if __name__ == "__main__":
    main()
