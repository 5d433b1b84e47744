"""Print errors of kernel forests whose experts learn by other rules, one pass.

    python benchmarks/forest_rules.py FOLDER [--orders 3] [--rows 20000] [--only NAME,...]

FOLDER and the errors are those of `forests.py`: per cent, of targets the root mean square error
over their deviation; means over the orders and, in brackets, the mean of the differences from AROW
over their standard error. The last line has the geometric mean of the ratios to AROW, and the one
before it the median of the processor time of a pass beside AROW's.
"""

import numpy as np
from command import read_options
from forests import TARGETS, learn

LABELLED = "segment,spambase,eeg-eye-state,satimage,ijcnn1,covtype.first20k,a9a"
SETS = LABELLED + ",pol,kin40k,cadata"
RULES = ("arow", "least_squares", "scw1", "scw2", "pa1", "pa2", "logistic")
OF_TARGETS = ("arow", "pa1", "pa2")


def cell_of(errors, own, number):
    """Return what the table says of the errors of a rule beside those of AROW."""
    difference = np.subtract(errors, own)
    text = f"{np.mean(errors):.{3 if number else 2}f}"
    spread = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else 0
    return text if spread == 0 else f"{text} ({difference.mean() / spread:+.1f})"


def main():
    arguments = read_options(__doc__, "folder", orders=3, rows=20_000, only=tuple(SETS.split(",")))
    print(f"| set | {' | '.join(RULES)} |\n|---|{'---|' * len(RULES)}")
    ratios, costs = {rule: [] for rule in RULES}, {rule: [] for rule in RULES}
    for name in arguments.only:
        number, errors, times, cells = name in TARGETS, {}, {}, []
        for rule in OF_TARGETS if number else RULES:
            found = [
                learn(arguments.folder, name, arguments.rows, order, rule=rule)
                for order in range(arguments.orders)
            ]
            errors[rule] = [error for error, _ in found]
            ratios[rule].append((number, np.mean(errors[rule]) / np.mean(errors["arow"])))
            times[rule] = np.median([cost for _, cost in found])
            costs[rule].append(times[rule] / times["arow"])
        for rule in RULES:
            there = rule in errors
            cells.append(cell_of(errors[rule], errors["arow"], number) if there else "")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    medians = [f"{np.median(costs[rule]):.2f}" if costs[rule] else "" for rule in RULES]
    print(f"| time | {' | '.join(medians)} |")
    for number, what in ((False, "classes"), (True, "targets")):
        means = [[r for kind, r in ratios[rule] if kind == number] for rule in RULES]
        texts = [f"{np.exp(np.mean(np.log(own))):.3f}" if own else "" for own in means]
        print(f"| ratio, {what} | {' | '.join(texts)} |")


if __name__ == "__main__":
    main()
