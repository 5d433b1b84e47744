"""The pages are true: links lead somewhere, examples run, and what is named exists."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import onlinekern

ROOT = Path(__file__).parents[1]
CORE = ROOT / "src" / "onlinekern" / "core"
MOST_LINES = {"README.md": 120, "docs/architecture.md": 150}
PAGES = sorted(
    str(path.relative_to(ROOT))
    for folder in (".", ".github", "docs", "docs/families", "docs/papers")
    for path in (ROOT / folder).glob("*.md")
)
# Pages whose Python examples need a program or package of their own: its tests run them.
EXAMPLES_ELSEWHERE = {
    f"docs/{name}.md" for name in ("c_api", "distributed", "ecosystem", "onnx", "river", "serving")
}
# Those that draw.
WITH_PICTURES = ["docs/plotting.md"]
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)


def read(page):
    """Return the text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def anchors_of(text):
    """Return the anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page, text):
    """Return the links of a page to files and headings of this repository that do not exist."""
    broken = []
    for link in LINK.findall(FENCED.sub("", text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        anchors = anchors_of(target.read_text("utf-8")) if anchor and target.exists() else set()
        if not target.exists() or (anchor and anchor not in anchors):
            broken.append(link)
    return broken


def names_of_core():
    """Return the modules of the core, as package.module, and the methods of each class."""
    modules, classes = set(), {}
    for path in CORE.rglob("*.pyx"):
        modules.add(".".join(path.relative_to(CORE).with_suffix("").parts))
        text = path.read_text(encoding="utf-8")
        for name, body in re.findall(r"^(?:cdef )?class (\w+)(.*?)(?=^\S|\Z)", text, re.M | re.S):
            classes[name] = set(re.findall(r"^    c?def .*?(\w+)\(", body, re.M))
    return modules, classes


def unknown_names(text):
    """Return the quoted module paths, files and classes that neither package nor core has."""
    modules, classes = names_of_core()
    packages = {name.split(".")[0] for name in modules if "." in name}
    folders = (ROOT / name for name in ("src", "onlinekern", "tests", "benchmarks"))
    files = {path.name for folder in folders for path in folder.rglob("*.*")}
    unknown = []
    for quoted in re.findall(r"`([^`\n]+)`", FENCED.sub("", text)):
        first, *rest = quoted.split(".")
        if re.fullmatch(r"[\w.\-]+/[\w./\-]*", quoted):
            exists = any((folder / quoted).exists() for folder in (ROOT, ROOT / "onlinekern", CORE))
        elif re.fullmatch(r"\w+\.(py|pyx|pxd|h)", quoted):
            exists = quoted in files
        elif rest and first in packages and re.fullmatch(r"\w+\.\w+", quoted):
            exists = quoted in modules
        elif re.fullmatch(r"[A-Z][a-z]+\w*(\.\w+)?", quoted):
            exists = first in classes and set(rest) <= classes[first]
            exists |= hasattr(onlinekern, first) and not rest
        else:
            continue
        if not exists:
            unknown.append(quoted)
    return unknown


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    assert not broken_links(page, read(page))


def test_a_broken_link_is_found():
    good = "[x](docs/speed.md#goals) [x](docs) [x](#two-commands)"
    assert broken_links("README.md", good) == []
    text = "[x](gone.md) [x](docs/speed.md#gone) [x](#gone)"
    assert broken_links("README.md", text) == ["gone.md", "docs/speed.md#gone", "#gone"]


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_what_is_named_exists(page):
    assert not unknown_names(read(page))


def test_an_unknown_name_is_found():
    text = "`kernels.window` `SupportSet.add` `SPAClassifier` `src/c` `losses.pyx` `onlinekern.h`"
    assert unknown_names(text) == []
    text = "`kernels.gone` `Gone` `SupportSet.gone` `src/gone` `gone.pyx`"
    assert unknown_names(text) == [
        "kernels.gone",
        "Gone",
        "SupportSet.gone",
        "src/gone",
        "gone.pyx",
    ]


def names_drawn(text):
    """Return the module paths and the class names in the drawings of a page, in quotes."""
    drawings = "".join(re.findall(r"^```\n(.*?)^```$", text, re.M | re.S))
    found = re.findall(r"\b[a-z]+\.[a-z]\w+|\b(?:[A-Z][a-z]+){2,}\w*", drawings)
    return "".join(f"`{name}`" for name in found)


def test_what_is_drawn_exists():
    drawn = names_drawn(read("docs/architecture.md"))
    assert {"`kernels.window`", "`KernelSpace`"} <= set(re.findall(r"`\S+?`", drawn))
    assert not unknown_names(drawn)


def test_functions_in_the_speed_tables_exist():
    modules, classes = names_of_core()
    last = {name.rpartition(".")[2] for name in modules}
    named = re.findall(r"`(\w+)\.([A-Z]\w+)\.(\w+)`", read("docs/speed.md"))
    assert len(named) > 10
    for module, cls, method in named:
        assert module in last
        assert method in classes[cls], f"{cls}.{method}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/")])
def test_a_page_begins_with_what_the_reader_gets(page):
    """The first paragraph is text that speaks to who reads it; lists and includes apart."""
    title, _, rest = re.sub(r"\A---.*?---\n", "", read(page), flags=re.S).strip().partition("\n")
    first = rest.strip().split("\n\n")[0]
    if title.startswith("```{include}") or first.startswith("```{toctree}"):
        return
    assert title.startswith("# ")
    assert not first.startswith(("|", "```", "    ", "$", "!", "- ", "#"))
    assert re.search(r"\b[Yy]ours?\b|\b[Yy]ou\b", first), first


def test_cells_know_the_heads_of_their_columns(monkeypatch):
    pytest.importorskip("bs4")
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_extensions"))
    narrow = importlib.import_module("narrow")
    head = "<tr><th>kind</th><th>a <b>b</b></th><th></th></tr>"
    row = "<tr><td>x</td><td>1 <code>y</code> 2</td><td></td></tr>"
    table = f"<table><thead>{head}</thead><tbody>{row}{row}</tbody></table>"
    found = narrow.TABLE.sub(narrow.labelled, f"<p>before</p>{table}<p>after</p>")
    assert found.startswith('<p>before</p><table class="labelled">')
    assert found.endswith("</table><p>after</p>")
    assert found.count('<td data-label="a b"><div>1 <code>y</code> 2</div></td>') == 2
    assert found.count('<td data-label=""></td>') == 2
    for other in (table.replace("<th></th>", ""), table.replace("<th></th></tr>", "</tr>").replace(
        "<td></td>", "")):  # fmt: skip
        assert narrow.TABLE.sub(narrow.labelled, other) == other


@pytest.mark.parametrize("page", sorted(MOST_LINES))
def test_a_page_stays_short(page):
    assert len(read(page).splitlines()) <= MOST_LINES[page]


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page not in EXAMPLES_ELSEWHERE and EXAMPLE.search(read(page))],
)
def test_examples_run(page, tmp_path, monkeypatch):
    if page in WITH_PICTURES:
        pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    examples = EXAMPLE.findall(read(page))
    names = {}  # the blocks of a page are one program
    for example in examples:
        exec(compile(example, page, "exec"), names)


@pytest.fixture
def public_names(monkeypatch):
    """Return the module of the site that chooses what the tables of the reference show."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "_extensions")
    return importlib.import_module("public_names")


def test_the_reference_lists_what_is_public(public_names):
    tables = re.findall(r"^\.\. public:: (\S+)\n(?:   :rooms: (.+)\n)?", read("docs/api.rst"), re.M)
    listed = {}
    for module, rooms in tables:
        names = public_names.of_rooms(rooms.split()) if rooms else public_names.names_of(module)
        assert names, f"{module} {rooms}"
        listed.setdefault(module, []).extend(names)
    assert set(listed) == {"onlinekern", *(f"onlinekern.{name}" for name in public_names.MODULES)}
    for module, names in listed.items():
        assert sorted(names) == sorted(public_names.names_of(module))


def test_the_table_of_algorithms_has_every_estimator_and_its_paper(public_names):
    rows = public_names.rows_of_algorithms()
    named = [name for _, names, _ in rows for name in re.findall(r"\w+", names)]
    assert sorted(named) == [name for name, _ in onlinekern.all_estimators()]
    assert all(re.fullmatch(r"[A-Z].+ \d{4}", paper) for _, _, paper in rows)
    assert any(paper == "Lu, Zhao, Hoi 2016" for _, _, paper in rows)


def test_readme_tells_what_its_example_prints(capsys):
    example = re.search(r"^```python\n(.*?)^```$", read("README.md"), re.M | re.S)[1]
    exec(compile(example, "README.md", "exec"), {})
    mistakes, labels, report = capsys.readouterr().out.split("\n", 2)
    said = re.search(r"# ([\d.]+) mistakes", example)
    assert float(mistakes) == pytest.approx(float(said[1]), abs=0.005)
    assert f"# {labels}\n" in example
    assert report.startswith("569 samples")


def test_the_front_page_takes_figures_and_example_from_the_readme():
    readme, front = read("README.md"), read("docs/index.md")
    for part, holds in (("figures", "docs/front.png"), ("example", "StreamClassifier")):
        begin, end = f"<!-- {part} -->", f"<!-- end of {part} -->"
        assert holds in readme.partition(begin)[2].partition(end)[0]
        assert f":start-after: {begin}\n:end-before: {end}\n" in front
    assert "times as fast" not in front
    assert len(LINK.findall(readme.partition("\n## More\n")[2].rpartition("\n\n")[0])) == 6


def test_pages_have_no_python_that_does_not_parse():
    for page in PAGES:
        for example in EXAMPLE.findall(read(page)):
            ast.parse(example)
