"""skops saves attributes, which compiled objects have not: it must refuse, or load what works."""

import numpy as np
import pytest
from learners import CLASSES, TRANSFORMERS, data

from onlinekern import (
    FourierFeatures,
    FrequentDirections,
    LearntMetric,
    NystroemFeatures,
    OnlineStandardScaler,
    PartitionFeatures,
)

REFUSAL = r"has no attributes to be saved by: .*save, which onlinekern\.load reads, or with pickle"


@pytest.mark.parametrize("name", CLASSES)
def test_a_model_is_refused_when_it_is_dumped(name, stream):
    skops = pytest.importorskip("skops.io")
    X, y = data(name, stream)
    with pytest.raises(TypeError, match=REFUSAL):
        skops.dumps(CLASSES[name](random_state=0).fit(X, y))


# The frequencies of Fourier features are an argument of the constructor of their map.
@pytest.mark.parametrize("name", sorted(TRANSFORMERS.keys() - {"FourierFeatures"}))
def test_a_transformer_is_refused(name, stream):
    skops = pytest.importorskip("skops.io")
    with pytest.raises(TypeError, match=REFUSAL):
        skops.dumps(TRANSFORMERS[name]().fit(*stream("binary")))


def test_what_constructors_restore_is_loaded(stream):
    skops = pytest.importorskip("skops.io")
    X, _ = stream()
    model = FourierFeatures(n_components=5, random_state=0).fit(X.astype(np.float32))
    data = skops.dumps(model)
    loaded = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X), strict=True)


def test_compiled_objects_have_no_state_of_attributes(stream):
    X, y = stream("binary")
    for thing in (
        CLASSES["PAClassifier"]().fit(X, y)._model,
        NystroemFeatures(n_components=3).fit(X)._map,
        FrequentDirections().fit(X)._sketch,
        LearntMetric().fit(X, y)._metric,
        OnlineStandardScaler().fit(X)._moments,
        PartitionFeatures(n_trees=3).fit(X)._partition,
    ):
        with pytest.raises(TypeError, match=REFUSAL):
            thing.__getstate__()
