"""What `fit` may be told is the same on all engines, and nothing else is taken."""

import inspect

import pytest

from onlinekern import PAClassifier
from onlinekern.distributed import fit, flink, ray, spark
from onlinekern.distributed.starting import Options


@pytest.mark.parametrize("engine", [ray, spark, flink])
def test_options(engine):
    found, wanted = (inspect.signature(one).parameters for one in (engine.fit, fit))
    for name in inspect.get_annotations(Options):
        assert found[name] == wanted[name]
        assert name in engine.fit.__doc__
    assert "options" not in found
    with pytest.raises(TypeError, match=r"^fit\(\) got an unexpected keyword argument 'speed'$"):
        engine.fit(PAClassifier(), [], speed=1)


@pytest.mark.parametrize("engine", [spark, flink])
def test_rounds_that_are_jobs_have_no_staleness(engine):
    with pytest.raises(TypeError, match="unexpected keyword argument 'staleness'"):
        engine.fit(PAClassifier(), [], staleness=1)
