"""References stand once, in `docs/references.bib`, and docstrings have them as they are there."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))

import bibliography

BIB = """Words between entries.

@article{author2001,
  author = {Author, Ann Bo and Van der Lint, Jean-Claude},
  year = {2001},
  title = {A title: of length},
  journal = {Journal},
  volume = {1},
  pages = {3--4},
}

@book{other2002,
  author = {Other, Zoë},
  year = {2002},
  title = {Another title},
  publisher = {Press},
  note = {Chapter 7},
}
"""
PUBLICATIONS = bibliography.read(BIB)
FIRST = "A. B. Author, J.-C. Van der Lint (2001). A title: of length. Journal 1, 3-4."
SECOND = "Z. Other (2002). Another title. Press. Chapter 7."
MODULE = f'''"""Cites [1]_.

References
----------
.. [1] {SECOND}
"""


class A:
    """The first [2]_, after [1]_.

    References
    ----------
    .. [1] {SECOND}
    .. [2] {FIRST}

    Examples
    --------
    >>> 1
    1
    """
'''


def test_the_library_cites_what_the_file_holds():
    publications = bibliography.read(bibliography.FILE.read_text(encoding="utf-8"))
    assert len(publications) > 60
    unused = set(publications)
    for path in Path(bibliography.FILE).parents[1].glob("onlinekern/**/*.py"):
        source = path.read_text(encoding="utf-8")
        after, cited, unknown = bibliography.written(source, publications)
        assert after == source, f"{path}: python docs/docstrings.py --write"
        assert not unknown, path
        assert not list(bibliography.mismatches(source)), path
        unused -= set(cited)
    assert not unused
    titles = [publication.fields["title"].lower() for publication in publications.values()]
    assert len(set(titles)) == len(titles)


def test_a_reference_as_it_stands_in_a_docstring():
    assert [str(one) for one in PUBLICATIONS.values()] == [FIRST, SECOND]


def test_what_is_right_stays():
    after, cited, unknown = bibliography.written(MODULE, PUBLICATIONS)
    assert (after, unknown) == (MODULE, [])
    assert cited == ["other2002", "other2002", "author2001"]
    assert not list(bibliography.mismatches(MODULE))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f".. [2] {FIRST}", ".. [2] author2001"),
        (f"[1] {SECOND}", "[1] other2002"),
        ("J.-C. Van der Lint", "K. Wrong"),
        ("Journal 1, 3-4", "Journal 2"),
        ("of length. J", "of\n       length. J"),
    ],
)
def test_what_differs_is_written_anew(old, new):
    assert old in MODULE
    assert bibliography.written(MODULE.replace(old, new), PUBLICATIONS)[0] == MODULE


def test_long_references_are_continued():
    publications = bibliography.read(BIB.replace("of length", "of " + "great " * 20 + "length"))
    after = bibliography.written(MODULE.replace(FIRST, "author2001"), publications)[0]
    assert max(map(len, after.splitlines())) <= 100
    assert "\n       " in after
    assert bibliography.written(after, publications)[0] == after


def test_what_is_unknown_is_named():
    changed = MODULE.replace("(2002). Another title", "(2003). Another title")
    after, _, unknown = bibliography.written(changed, PUBLICATIONS)
    assert after == changed
    assert len(unknown) == 2
    assert "not in references.bib" in unknown[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("The first [2]_", "The first", "A: [2] is a reference and not cited"),
        ("The first [2]_", "The first [2]_ [3]_", "A: [3] is cited and not a reference"),
        (".. [2] ", ".. [3] ", "A: the references are numbered [1, 3]"),
        ("Cites [1]_", "Cites", "the module: [1] is a reference and not cited"),
        (f".. [1] {SECOND}\n    .. [2] {FIRST}", SECOND, "A: its references are not numbered"),
    ],
)
def test_citations_without_a_reference_and_the_reverse(old, new, message):
    assert old in MODULE
    assert message in list(bibliography.mismatches(MODULE.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("other2002", "author2001", "two entries author2001"),
        ("  year = {2001},\n", "", "author2001 lacks year"),
        ("  publisher = {Press},\n", "", "other2002 lacks one of journal"),
        ("  year = {2001},\n", "  year = 2001,\n", "a line of author2001 is no field"),
    ],
)
def test_files_that_are_wrong(old, new, message):
    assert old in BIB
    with pytest.raises(AssertionError, match=message):
        bibliography.read(BIB.replace(old, new))
