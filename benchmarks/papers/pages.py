"""Fill the tables of the papers' pages from the results, and draw their figures.

A page is written by hand, but for what stands between `<!-- KIND NAME | COLUMN | ... -->` and
`<!-- end -->`. KIND is one of `BLOCKS`, NAME a table; a column is a set, or `SET = heading`.
"""

import re

import numpy as np
from plots import draw_all
from results import summary
from rows import TABLES
from scipy.stats import ttest_rel

BLOCK = re.compile(r"<!-- (\w+) (\w+)((?: \|[^|\n]*)*) -->\n.*?<!-- end -->", re.S)


def write_pages(folder, results):
    """Fill the tables of all pages of a folder; draw the figures there."""
    for page in sorted(folder.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        page.write_text(filled(text, results), encoding="utf-8")
    draw_all(folder, results)


def filled(text, results):
    """Return the text of a page with its tables as the results have them."""

    def fill(found):
        kind, name, given = found[1], found[2], found[3]
        columns = [part.strip().split(" = ") for part in given.split("|")[1:]]
        head = found[0].partition("\n")[0]
        lines = BLOCKS[kind](results, name, {one[0]: one[-1] for one in columns})
        return "\n".join([head, "", *lines, "", "<!-- end -->"])

    return BLOCK.sub(fill, text)


def lines_of(name, sets):
    """Return label -> set -> row: a learner's rows, the second ones of a set by themselves."""
    found, counts = {}, {}
    for row in TABLES[name]:
        if row.data not in sets:
            continue
        place = counts[row.data, row.name] = counts.get((row.data, row.name), -1) + 1
        found.setdefault((row.name, place), {})[row.data] = row
    labels = {}
    for (learner, place), rows in found.items():
        labels[learner if place == 0 else next(iter(rows.values())).learner] = rows
    return labels


def pivot(results, name, sets, cell):
    """Return a table of learners and sets as lines of Markdown."""
    lines = ["| | " + " | ".join(sets.values()) + " |", "|---" * (len(sets) + 1) + "|"]
    for label, rows in lines_of(name, sets).items():
        cells = [
            cell(rows[data], results.get(name, rows[data])) if data in rows else "" for data in sets
        ]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return lines


def error_of(row, runs):
    """Return an error, with the published one in brackets."""
    own = summary(runs["error"], row.digits) if "error" in runs else "no data"
    return own if row.published is None else f"{own} ({row.published:g})"


def errors(results, name, sets):
    """Return the table of the errors."""
    return pivot(results, name, sets, error_of)


def sizes(results, name, sets):
    """Return the table of the errors with the numbers of support vectors."""

    def cell(row, runs):
        kept = f", {np.mean(runs['size']):,.0f}" if "size" in runs else ""
        own, bracket, paper = error_of(row, runs).partition(" (")
        return own + kept + bracket + paper

    return pivot(results, name, sets, cell)


def measured(measure, digits):
    """Return a block of another measure than the error."""

    def block(results, name, sets):
        def cell(row, runs):
            return summary(runs[measure], digits) if measure in runs else ""

        return pivot(results, name, sets, cell)

    return block


def times(results, name, sets):
    """Return the table of the medians of the times."""
    return pivot(
        results, name, sets, lambda row, runs: f"{np.median(runs['time']):.2f}" if runs else ""
    )


def support(results, name, sets):
    """Return SPA's support vectors and losses beside what theory expects and promises."""
    lines = [
        "| | kept | expected | bound | loss a sample | comparator's loss | bound of the loss |",
        "|---" * 7 + "|",
    ]
    for row in TABLES[name]:
        runs = results.get(name, row)
        if row.data in sets and "expected" in runs:
            kept = summary(runs["size"], 0)
            expected, bound = (np.mean(runs[measure]) for measure in ("expected", "bound"))
            losses = [f"{np.mean(runs[one]):.3f}" for one in ("loss", "comparator", "promised")]
            cells = [sets[row.data], kept, f"{expected:,.1f}", f"{bound:,.0f}", *losses]
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def tests(results, name, sets):
    """Return SDROGD's errors beside the best rival's, with the p of a paired t-test."""
    lines = [
        "| | best of SDROGD | best rival | difference | p |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for data, heading in sets.items():
        rows = [(row, results.get(name, row).get("error")) for row in TABLES[name]]
        rows = [(row, found) for row, found in rows if row.data == data and found]
        own, rivals = (
            [(np.mean(found), row.name, found) for row, found in rows if part(row)]
            for part in (is_sdrogd, lambda row: not is_sdrogd(row))
        )
        if not own or not rivals:
            lines.append(f"| {heading} | no data | | | |")
            continue
        (mean, first, errors), (other, second, others) = min(own), min(rivals)
        n = min(len(errors), len(others))
        p = ttest_rel(errors[:n], others[:n]).pvalue
        told = "< 0.001" if p < 0.001 else f"{p:.3f}"
        lines.append(
            f"| {heading} | {first}: {summary(errors)} | {second}: {summary(others)} | "
            f"{mean - other:+.2f} | {told} |"
        )
    return lines


def is_sdrogd(row):
    """Return whether a row is one of SDROGD."""
    return row.name.startswith("SDROGD")


def grid(results, name, sets):
    """Return the grid of OLLA: loss and regulariser by bias and selection; then the others."""
    found, others = {}, []
    for row in TABLES[name]:
        if row.data not in sets:
            continue
        told, parts = cell_of_grid(row, results.get(name, row)), row.learner.split(", ")
        if len(parts) == 4:
            found.setdefault(", ".join(parts[:2]), {})[", ".join(parts[2:])] = told
        else:
            others.append(f"- {row.learner}: {told}")
    columns = list(next(iter(found.values())))
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [
        f"| {label} | " + " | ".join(cells[one] for one in columns) + " |"
        for label, cells in found.items()
    ]
    return [*lines, "", *others]


def cell_of_grid(row, runs):
    """Return an error and the number of support vectors."""
    if not runs:
        return "no data"
    return f"{runs['error'][0]:.2f}, {runs['size'][0]:,.0f}"


BLOCKS = {
    "errors": errors, "sizes": sizes, "times": times, "support": support, "tests": tests,
    "grid": grid, "auc": measured("auc", 2),
}  # fmt: skip
