"""The recipes for MLflow in docs/ecosystem.md: both blocks run, and both models answer alike."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mlflow")

import mlflow

import onlinekern
from onlinekern import StreamClassifier

PAGE = Path(__file__).parent.parent / "docs" / "ecosystem.md"


@pytest.mark.filterwarnings("default")
def test_the_recipes_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert len(blocks) == 2
    names = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    rows, model, folder = names["rows"], names["model"], names["folder"]
    scores = onlinekern.load(folder / "model.okn").predict_proba(rows)
    assert (scores == model.predict_proba(rows)).all()
    assert (names["served"].predict(rows, params={"what": "predict_proba"}) == scores).all()
    holes = rows.assign(town=None)[:3]
    assert (names["served"].predict(holes) == model.predict(holes)).all()
    run = mlflow.search_runs(search_all_experiments=True).iloc[0]
    assert run["metrics.error"] < 0.05


@pytest.mark.filterwarnings("default")
def test_the_default_of_mlflow_is_refused(tmp_path):
    model = StreamClassifier(random_state=0).fit(np.arange(40.0)[:, None], np.arange(40) % 2)
    with pytest.raises(mlflow.exceptions.MlflowException, match="cloudpickle"):
        mlflow.sklearn.save_model(model, tmp_path / "model", serialization_format="skops")
