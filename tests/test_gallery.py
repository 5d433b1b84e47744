"""The examples of the site do what they say: each runs, on fewer rows, and prints its figures."""

import re
import runpy
import sys
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

pyplot = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("pandas")

EXAMPLES = Path(__file__).parents[1] / "examples"
# The sizes that they have in the site, and those here.
SMALLER = {"ROWS = 8000": "ROWS = 2000", "HOURS = 7000": "HOURS = 1500"}


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run an example in a folder of its own; return what it prints, and how many figures it has."""

    def run(name, *arguments):
        pyplot.close("all")  # Those that other tests have left open.
        shown = []
        monkeypatch.setattr(pyplot, "show", lambda: shown.extend(pyplot.get_fignums()))
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        monkeypatch.setattr("tempfile.mkdtemp", lambda: str(tmp_path))
        text = (EXAMPLES / name).read_text(encoding="utf-8")
        for whole, part in SMALLER.items():
            text = text.replace(whole, part)
        script = tmp_path / Path(name).name
        script.write_text(text, encoding="utf-8")
        # Threads that wait for each other take a minute where other tests keep the cores busy.
        with threadpool_limits(1):
            runpy.run_path(str(script), run_name="__main__")
        pyplot.close("all")
        return capsys.readouterr().out, len(shown)

    return run


def percents(text, line):
    """Return the shares of a line that begins so."""
    (found,) = re.findall(rf"^{line}.*$", text, re.M)
    return [float(number) for number in re.findall(r"([\d.]+)%", found)]


def test_a_table(run):
    text, figures = run("tasks/table_classification.py")
    assert figures == 1
    assert percents(text, "StreamClassifier")[0] < percents(text, "always")[0] - 10


def test_dates(run):
    text, figures = run("tasks/regression_with_dates.py")
    assert figures == 1
    model, naive = (float(number) for number in re.findall(r"([\d.]+) bikes", text))
    assert model < naive / 2
    assert abs(percents(text, "intervals")[0] - 90) < 4


def test_drift(run):
    text, figures = run("tasks/drift.py")
    assert figures == 1
    once, goes_on, anew = (percents(text, name)[0] for name in ("trained", "goes", "begins"))
    assert anew < goes_on < once
    alarms = [int(n) for n in re.search(r"changes .* alarms at \[(.*)\]", text)[1].split(",")]
    assert len(alarms) == 2
    assert all(0 < alarm - change < 100 for alarm, change in zip(alarms, (4000, 8000), strict=True))


def test_anomalies(run):
    text, figures = run("tasks/anomalies.py")
    assert figures == 1
    assert float(re.search(r"curve: ([\d.]+)", text)[1]) > 0.9


def test_serving(run):
    pytest.importorskip("uvicorn")
    text, figures = run("tasks/serving.py")
    assert figures == 1
    assert "learnt before the kill 2000, after it 2000" in text


def test_the_first_hour(run, tmp_path):
    text, _ = run("first_hour.py", "1500")
    own, other, mean = (
        float(n) for n in re.findall(r"(?:error |trees, later half: +|alone )([\d.]+)", text)
    )
    assert own < mean / 2
    assert other < mean / 2
    assert "'at': 'date', 'town': 'category', 'price': 'number', 'sale': 'boolean'" in text
    assert (tmp_path / "shop.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (tmp_path / "shop.c").exists()
