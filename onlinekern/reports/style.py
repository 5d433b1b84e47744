"""What the pages look like, light and dark, and the few lines of script that sort a table."""

from __future__ import annotations

from onlinekern.plotting.style import COLOURS, GREY

# It stands for the colour of the text while a picture is drawn.
INK = "#010203"
# These take the place of the colours of the curves on a dark page, in their order.
DARK = ("#4aa8e8", "#ff8f4a", "#2fc79a", "#e39ac5", "#f2b63c", "#a3dbff", "#f4f4f4", "#d9749c")
# Colour in a picture -> name of a variable of the page.
VARIABLES = {INK: "ink", GREY: "grey"} | {
    colour.lower(): f"c{place}" for place, colour in enumerate(COLOURS)
}


def _variables(ink: str, grey: str, colours: tuple[str, ...]) -> str:
    named = {"ink": ink, "grey": grey} | {f"c{place}": one for place, one in enumerate(colours)}
    return " ".join(f"--{name}: {value};" for name, value in named.items())


CSS = f"""
:root {{
  color-scheme: light dark;
  {_variables("#1b1f24", "#6b7178", COLOURS)}
  --page: #f5f6f8; --card: #ffffff; --line: #dfe3e8; --soft: #59616b; --shade: 0, 114, 178;
}}
@media (prefers-color-scheme: dark) {{
  :root {{
    {_variables("#e8eaed", "#9aa0a8", DARK)}
    --page: #14171b; --card: #1d2127; --line: #343a42; --soft: #a6aeb8; --shade: 74, 168, 232;
  }}
}}
* {{ box-sizing: border-box; }}
body {{
  margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 75rem; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: break-word;
}}
h1 {{ font-size: 1.5rem; line-height: 1.25; margin: 0; }}
h2 {{ font-size: 1.05rem; margin: 0 0 .5rem; }}
p {{ margin: .25rem 0; }}
.soft, figcaption, caption {{ color: var(--soft); font-size: .88rem; }}
.warn {{ border-left: 4px solid var(--c1); padding-left: .7rem; margin: .8rem 0; }}
.tiles {{
  display: grid; grid-template-columns: repeat(auto-fit, minmax(8.2rem, 1fr)); gap: .7rem;
  margin: 1rem 0; padding: 0;
}}
.tiles div, .card {{
  background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .8rem 1rem;
}}
.tiles dt {{ color: var(--soft); font-size: .85rem; }}
.tiles dd {{ margin: 0; font-size: 1.35rem; font-weight: 600; font-variant-numeric: tabular-nums; }}
.cards {{ display: flex; flex-wrap: wrap; gap: .9rem; }}
.cards > .card {{ flex: 1 1 min(100%, 31rem); min-width: 0; }}
body > .card, body > .cards {{ margin-top: .9rem; }}
.scroll {{ overflow-x: auto; }}
figure {{ margin: 0; }}
svg {{
  display: block; width: 100%; height: auto; max-width: 46rem; margin: auto;
}}
svg text {{ font-family: system-ui, "Segoe UI", Roboto, sans-serif !important; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }}
caption {{ text-align: left; padding-bottom: .4rem; }}
th, td {{
  padding: .28rem .7rem .28rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top;
}}
th {{ font-weight: 600; }}
.sortable td:first-child {{ min-width: 6rem; }}
.number {{ text-align: right; white-space: nowrap; padding-left: .7rem; }}
.best td {{ font-weight: 700; }}
th button {{
  all: unset; cursor: pointer; font-weight: 600;
}}
th button:hover, th button:focus-visible {{ text-decoration: underline; }}
th[aria-sort=ascending] button::after {{ content: " \\25B2"; font-size: .7em; }}
th[aria-sort=descending] button::after {{ content: " \\25BC"; font-size: .7em; }}
.matrix td {{
  background: rgba(var(--shade), calc(var(--part) * .55)); text-align: right;
  padding: .28rem .6rem; border: 1px solid var(--line);
}}
.matrix th {{ padding-right: .6rem; white-space: nowrap; }}
.matrix th.long {{
  white-space: normal; overflow-wrap: anywhere; min-width: 7rem; max-width: 12rem;
}}
.matrix td.none {{ color: var(--soft); font-weight: 400; }}
.matrix thead th {{ text-align: right; }}
.matrix td.right {{ font-weight: 700; }}
code, pre {{ font: .88em/1.45 ui-monospace, Consolas, monospace; white-space: pre-wrap; }}
@media (max-width: 40rem) {{
  body {{ padding: 1rem .6rem 2rem; }}
  .card, .tiles div {{ padding: .7rem; }}
  table {{ font-size: .84rem; }}
  .number {{ padding-left: .2rem; }}
}}
@media print {{ body {{ background: none; max-width: none; }} .card {{ break-inside: avoid; }} }}
"""

# A click on a head sorts by its column, a second one the other way round. Cells without a number
# come last.
JS = """
for (const button of document.querySelectorAll("table.sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, body = head.closest("table").tBodies[0];
    const turn = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", turn > 0 ? "ascending" : "descending");
    const text = row => row.cells[head.cellIndex].textContent;
    const number = row => parseFloat(text(row).replace(/,/g, ""));
    const numeric = head.classList.contains("number");
    const key = (a, b) => {
      if (!numeric) return turn * text(a).localeCompare(text(b));
      const [x, y] = [number(a), number(b)];
      return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : turn * (x - y);
    };
    body.append(...[...body.rows].sort(key));
  });
}
"""
