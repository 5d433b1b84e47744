"""What docstrings share is equal: `docs/docstrings.py` has nothing to write and nothing to say."""

import importlib.util
import textwrap
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "docs" / "docstrings.py"
SPEC = importlib.util.spec_from_file_location("docstrings", TOOL)
docstrings = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(docstrings)

PASSAGES = """
What comes before the first section explains the file.

Parameters
----------

eta : float > 0, default=0.5
    Length of a step.

[B C]
kind : {'one', 'two'}, default='one'
    Which of them.

Attributes
----------

n_seen_ : int
    Samples learnt.

Notes
-----

[A B]
Every step that a model takes multiplies the
coefficients that it has by a factor.
"""
MODULE = '''"""Three learners."""


class A:
    """The first.

    Parameters
    ----------
    eta : float > 0, default=0.5
        Length of a step.

        The first takes few.

    Attributes
    ----------
    n_seen_ : int
        Samples learnt.

    Notes
    -----
    Words of its own.

    Every step that a model takes multiplies the
    coefficients that it has by a factor.

    References
    ----------
    .. [1] B. Other (2002). Another title. Journal 2.
    .. [2] A. Author (2001). A title. Journal 1.

    Examples
    --------
    >>> 1 + 1
    2
    """

    eta: float = 0.5


class B:
    """The second.

    Parameters
    ----------
    kind : {'one', 'two'}, default='one'
        Which of them.
    eta : float > 0, default=2.0
        Length of a step.

    Attributes
    ----------
    n_seen_ : int
        Samples learnt.

    Notes
    -----
    Every step that a model takes multiplies the
    coefficients that it has by a factor.

    References
    ----------
    .. [1] A. Author (2001). A title. Journal 1.
    """


class C:
    """The third.

    Parameters
    ----------
    kind : {'one', 'two'}, default='two'
        Which of them.
    """
'''
SIGNATURES = {
    "A": {"eta": 0.5},
    "B": {"kind": "one", "eta": 2.0},
    "C": {"kind": "two"},
}


def rewritten(module=MODULE, passages=PASSAGES):
    return docstrings.rewritten(module, SIGNATURES, docstrings.read(passages))


def problems(module=MODULE, passages=PASSAGES):
    uses = rewritten(module, passages)[1]
    return "\n".join(docstrings.problems(docstrings.read(passages), uses))


def test_the_docstrings_of_the_library_are_as_written():
    changed, wrong = docstrings.compared()
    assert not wrong
    assert not changed, "python docs/docstrings.py --write"


def test_the_library_is_looked_at():
    files = docstrings.signatures_by_file()
    assert sum(map(len, files.values())) >= 60
    passages = docstrings.read(docstrings.PASSAGES.read_text(encoding="utf-8"))
    assert {passage.section for passage in passages} == set(docstrings.SECTIONS)
    assert len(passages) > 200


def test_what_is_right_stays():
    assert rewritten()[0] == MODULE
    assert not problems()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    Length of a step.", "    How far a step goes."),
        ("float > 0, default=0.5", "float >= 0, default=0.5"),
        ("Samples learnt.", "Samples learnt;\n    others do not count."),
        ("coefficients that it has by a factor.", "coefficients that it has by another factor."),
    ],
)
def test_a_new_passage_is_written_everywhere(old, new):
    passages = PASSAGES.replace(old, new)
    after, _ = rewritten(passages=passages)
    # The default is not the passage's to give.
    old, new = (textwrap.indent(text.removesuffix("=0.5"), " " * 4) for text in (old, new))
    assert after == MODULE.replace(old.lstrip(), new.lstrip()) != MODULE
    assert rewritten(after, passages)[0] == after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Length of a step.\n\n", "Length of steps.\n\n"),
        ("float > 0, default=2.0", "float, default=2.0"),
        ("default='two'", "default='one'"),
        ("kind : {'one', 'two'}, default='one'\n        Which of them.", "kind :"),
        ("takes multiplies the\n    coefficients", "takes divides the\n    coefficients"),
    ],
)
def test_what_has_drifted_is_written_anew(old, new):
    assert old in MODULE
    assert rewritten(MODULE.replace(old, new, 1))[0] == MODULE


def test_a_paragraph_unlike_all_others_is_added():
    after, _ = rewritten(passages=PASSAGES.replace("[A B]", "[A]\nNew.\n\n[A B]"))
    assert after.count("New.") == 1
    assert after.replace("    New.\n\n", "") == MODULE


def test_parameters_in_the_order_of_the_signature():
    kind = "    kind : {'one', 'two'}, default='one'\n        Which of them.\n"
    eta = "    eta : float > 0, default=2.0\n        Length of a step.\n"
    assert kind + eta in MODULE
    assert rewritten(MODULE.replace(kind + eta, eta + kind))[0] == MODULE


@pytest.mark.parametrize(
    ("head", "default", "expected"),
    [
        ("C : float, default=1.0", 1.0, "C : float, default=1.0"),
        ("tol : float, default=1e-4", 0.0001, "tol : float, default=1e-4"),
        ("tol : float, default=1e-4", 0.01, "tol : float, default=0.01"),
        ("fit : bool, default=1", True, "fit : bool, default=True"),
        ("kind : str or None, default='a'", None, "kind : str or None, default=None"),
        ("kind : str, default=a (b for c)", "a", "kind : str, default='a'"),
        ("kind : str", "a", "kind : str, default='a'"),
    ],
)
def test_the_default_is_that_of_the_class(head, default, expected):
    assert docstrings.with_default(head, default) == expected


def test_long_lines_are_continued():
    words = " or ".join(["float > 0"] * 12)
    passages = PASSAGES.replace("eta : float > 0", "eta : " + words)
    after, _ = rewritten(passages=passages)
    assert max(map(len, after.splitlines())) <= 100
    assert after.replace("\\\n", "").count("eta : " + words) == 2
    assert rewritten(after, passages)[0] == after


OWN_ETA = "[A]\neta : own\n\n"


@pytest.mark.parametrize(
    ("module", "passages", "words"),
    [
        ((), ("[B C]", "[B]"), "1 classes have it"),
        ((), ("[B C]", "[B C D]"), "no class D has it"),
        ((), ("eta :", "step :"), "[] Parameters, step: 0 classes have it"),
        ((), ("eta :", "[C]\neta : own\n\neta :"), "no class C has it"),
        ((), ("Which of", "Which \\of"), "a backslash"),
        (("of a step.\n\n", "of steps.\n\n"), ("eta :", OWN_ETA + "eta :"), "1 classes have it"),
        (("Which of them", ""), ("[B C]\nkind : {'one', 'two'}", "[B C]\nkind : {1}"), ""),
    ],
)
def test_passages_that_are_wrong(module, passages, words):
    text = MODULE.replace(*module, 1) if module else MODULE
    assert words in problems(text, PASSAGES.replace(*passages, 1) if passages else PASSAGES)


WITHOUT = PASSAGES.replace("[B C]\nkind : {'one', 'two'}, default='one'\n    Which of them.\n", "")


def test_the_same_text_twice_is_a_passage():
    module = MODULE.replace("default='two'", "default='one'")
    signatures = {**SIGNATURES, "C": {"kind": "one"}}
    passages = docstrings.read(WITHOUT)
    uses = docstrings.rewritten(module, signatures, passages)[1]
    (sentence,) = docstrings.problems(passages, uses)
    assert sentence == (
        "C, Parameters, kind: the same as B, Parameters, kind, so it should be a passage"
    )


def test_two_texts_under_one_head():
    module = MODULE.replace(
        "default='two'\n        Which of them.", "default='one'\n        Other."
    )
    signatures = {**SIGNATURES, "C": {"kind": "one"}}
    for own, number in (("", 1), ("kind : own\n\n", 0)):
        passages = docstrings.read(WITHOUT.replace("Attributes", own + "Attributes"))
        uses = docstrings.rewritten(module, signatures, passages)[1]
        found = list(docstrings.problems(passages, uses))
        assert len(found) == number
        assert all("says under the same head" in sentence for sentence in found)


def test_two_passages_for_one_class():
    with pytest.raises(AssertionError, match="eta and passage"):
        rewritten(passages=PASSAGES.replace("eta :", "[A]\neta : int\n    No.\n\n[A B]\neta :"))


def test_an_entry_without_description():
    module = MODULE.replace("n_seen_ : int\n        Samples learnt.", "n_left_ : int")
    assert "A, Attributes, n_left_: has no description" in problems(module)
