"""Learning past one machine: streams spread over a Dask cluster, learnt in parts and merged.

`fit` learns dask arrays and data frames, delayed readers, and files. `predict` applies a
model to them. `compare` runs the methods of `onlinekern.evaluate.compare` on a cluster. They need
dask: ``pip install 'onlinekern[dask]'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from onlinekern.distributed.cluster import Tasks, cluster_of, showing_progress
from onlinekern.distributed.comparing import CompareTasks, run_compare
from onlinekern.distributed.dask_parts import parts_of, predictions
from onlinekern.distributed.engines import require
from onlinekern.distributed.futures import Run
from onlinekern.distributed.record import DistributedFit
from onlinekern.distributed.starting import Asked, Options, takes_options
from onlinekern.estimators.types import BatchLearner, StreamLearner
from onlinekern.evaluate.comparing import Setting
from onlinekern.evaluate.results import Comparison
from onlinekern.evaluate.test_then_train import WINDOW

if TYPE_CHECKING:
    from onlinekern.streams.source import Source


@takes_options
def fit(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    staleness: int = 0,
    client: Any = None,
    progress: Callable[[int, int | None, str], None] | bool | None = None,
    **options: Unpack[Options],
) -> DistributedFit:
    """Learn a stream that is spread over a cluster.

    The first samples are learnt by one learner. Its model, with the width of its kernel, its
    landmarks or frequencies, and all classes, is what every learner begins with. In each round the
    learners learn their parts of the stream side by side, and their models are merged, in a tree of
    tasks on the workers; the next round begins with the merged model (iterative parameter mixing
    [1]_). For kernel least squares the merged model is that of one learner of the same samples;
    what `onlinekern.merge` makes of other learners is in docs/merging.md.

    Parameters
    ----------
    estimator : estimator
        A learner that `onlinekern.merge` takes, or a pipeline that ends with one. It is not
        changed. The transformers of a pipeline (`OnlineStandardScaler`, `TableEncoder`), and the
        encoder inside of a learner, learn in the warm-up, and only transform after it.
    X : dask array, dask data frame, str, path, or list
        Samples, in the order of the stream:

        * a dask array of shape (n_samples, n_features), whose chunks are dense or CSR and hold
          whole rows;
        * a dask data frame. Its columns are features, but for those that y and sample_weight name.
          Other columns than numbers need ``encode=True``, or a pipeline that begins with a
          `TableEncoder`;
        * a list of delayed readers, or of functions without arguments: each gives (X, y) or
          (X, y, sample_weight) of a part. A function is called once a pass, on a worker;
        * files that the workers can read: Parquet, Arrow IPC, CSV or JSON lines; a file, a folder,
          a pattern, a URL such as ``s3://bucket/logs``, or a list of these, as
          `onlinekern.streams.open_source` takes them. A part is a row group of Parquet, or a file
          of another kind. Nothing of it goes through the client.
    y : dask array, dask series, str or None, default=None
        Labels or targets. A str is the column of a data frame or of files. None: readers
        give them, or the learner takes none.
    sample_weight : dask array, dask series, str or None, default=None
        Weights, in the same forms as y.
    classes : array-like or None, default=None
        All labels. None: the labels are read first, on the workers, which for readers means all
        that they read.
    rounds : int >= 1, default=1
        How often the models are merged in one pass. More rounds come closer to one learner of the
        whole stream, and wait for the slowest learner each time.
    passes : int >= 1, default=1
        Passes over the data; each has its rounds.
    staleness : int >= 0, default=0
        How many earlier rounds may still be on their way when a round begins. Round r begins with
        the merged model of round r - 1 - staleness, or with that of the warm-up; merged are what
        its learners make of it and the merged model of round r - 1, which has learnt since that one
        too. So a slow worker holds nobody before it is so many rounds behind, and workers that are
        free learn the parts of later rounds. The model depends on this number, never on who is
        slow; that of kernel least squares with ``gate="always"`` is still that of one learner. 0:
        each round waits for all learners of the last one, and learns from all before it.
    n_learners : int or None, default=None
        Learners that learn side by side. Learner k of K takes the K-th parts of each round, from
        the k-th on. None: as many as the workers have threads now. The model depends on this
        number, on `rounds`, and on how the data are cut into parts; never on which worker does
        what.
    warm_up : int or None, default=None
        Samples that one learner learns first. None: until the kernel's width and landmarks are
        settled (at most 20,000 samples), and at least 200; 1,000 if there are transformers.
    warm_start : bool, default=False
        Go on from what the estimator has learnt, as `partial_fit` does. There is no warm-up then.
    client : distributed.Client or None, default=None
        None: the current one; if there is none, a cluster of processes on this machine, one for
        each core, that ends with the call. A script that makes one must do it under
        ``if __name__ == "__main__":``.
    checkpoint : str, path or None, default=None
        File, or URL, to which the merged model is saved after each round, whole or not at all, for
        `onlinekern.load`. It knows which parts the model has learnt.
    resume : bool, default=False
        Go on after the last round that the checkpoint has; begin if there is no such file yet. The
        other arguments must be those of the run that wrote it; n_learners=None takes its number.
        The model is that of a run that was not interrupted, bit for bit.
    on_error : {'raise', 'skip'}, default='raise'
        What is done with a row that has a value, a target or a weight that is missing, NaN or
        infinite, or a negative weight. 'raise': an error names the part and the row. 'skip': it is
        left out, and `skipped` of the result counts it with its part. A `TableEncoder` takes
        missing values.
    storage_options : mapping or None, default=None
        What the stores of URLs are told, those of X and that of the checkpoint, as by fsspec: keys,
        an endpoint. It goes to the workers. None: the environment of each process tells it.
    progress : callable, bool or None, default=None
        Called as ``progress(done, total, text)`` with a number of parts. None: a bar on a terminal,
        if rich is installed. False: nothing.

    Returns
    -------
    DistributedFit
        Its `model`, and what each of its `rounds` took: samples, mistakes made before they were
        learnt, seconds, bytes.

    Raises
    ------
    ClusterLost
        If the scheduler goes away, or a part ends each worker that takes it. The error has the
        merged `model` of the last round. A worker that dies is no error: its tasks, which depend on
        a model and their part alone, are done again, with the same bits.
    WorkerUnfit
        If a worker cannot import the library, has another version of it than the client, or does
        not answer within a minute; also one that comes later.
    ValueError
        If an argument is invalid, or a part cannot be learnt; nothing is kept of its round.
    TypeError
        If X is none of the above, or the learner cannot be merged.
    ImportError
        If dask is missing, or a package for the store of a URL.

    Notes
    -----
    Each learner has one thread of BLAS. After Ctrl-C the checkpoint is that of the last round.
    Chunks that share costly tasks, as those of a shuffle do, are best persisted first.

    A worker that Dask itself has begun (``LocalCluster`` and other ``SpecCluster``) and that dies
    must be back within ``distributed.deploy.lost-worker-timeout`` of Dask's configuration, 15 s by
    default: after that Dask gives it up for good. A busy machine needs more.

    References
    ----------
    .. [1] R. McDonald, K. Hall, G. Mann (2010). Distributed training strategies for the structured
       perceptron. Human Language Technologies: NAACL, 456-464.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from onlinekern import KernelRLSClassifier, distributed
    >>> X = da.random.default_rng(0).normal(size=(8000, 4), chunks=(1000, 4))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> with Client(processes=False, n_workers=2, dashboard_address=":0") as client:
    ...     fitted = distributed.fit(KernelRLSClassifier(n_components=100, random_state=0), X, y)
    ...     answers = distributed.predict(fitted.model, X[:1000]).compute()
    >>> fitted.samples
    8000
    >>> bool((answers == y[:1000].compute()).mean() > 0.9)
    True
    """
    asked = Asked.of(estimator, X, y, options, staleness)
    with cluster_of(client) as found, showing_progress(progress) as show:
        tasks = Tasks(found)
        stream = parts_of(asked, sample_weight, tasks)
        n_workers = sum(found.nthreads().values())
        return asked.start(stream, n_workers, partial(Run, tasks, show))


def predict(model: Any, X: Any, method: str = "predict") -> Any:
    """Predict samples that are spread over a cluster, or do not fit into memory.

    Nothing is computed yet: the result is as lazy as X. The model is one task of the graph, whose
    result each worker fetches once.

    Parameters
    ----------
    model : fitted estimator or pipeline
    X : dask array of shape (n_samples, n_features), or dask data frame
        Chunks may be dense or CSR.
    method : {'predict', 'decision_function', 'predict_proba', ...}, default='predict'
        A method of the model that takes X alone.

    Returns
    -------
    dask array of shape (n_samples,) or (n_samples, n_classes)
        Of a data frame: a dask series, or a data frame with a column for each class, with the index
        of X.

    Raises
    ------
    ValueError
        If the model has no such method, or X another number of features.
    TypeError
        If X is neither.
    ImportError
        If dask is missing.
    """
    require("dask.array")
    return predictions(model, X, method)


def compare(
    methods: str | Iterable[str] | Mapping[str, StreamLearner | BatchLearner],
    source: Source,
    repeats: int = 5,
    *,
    test: Source | None = None,
    shuffle: bool = True,
    kernel: str = "gaussian",
    gamma: float | str | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    window: int = WINDOW,
    client: Any = None,
    progress: Callable[[int, int | None, str], None] | bool | None = None,
) -> Comparison:
    """Run `onlinekern.evaluate.compare` on a cluster: methods and permutations side by side.

    The results are those of `compare`, to the bit, but for the times, which are those of busy
    workers. The width of kernels is chosen in one task, the parameters of each method in another,
    and each run of a method on a permutation is one more.

    Parameters
    ----------
    methods, source, repeats, test, shuffle, kernel, gamma, settings, seed, window
        As in `onlinekern.evaluate.compare`. The sources are sent to the scheduler once, with all
        their rows, and from there to each worker.
    client : distributed.Client or None, default=None
        The client, as for `fit`.
    progress : callable, bool or None, default=None
        Progress in runs, as for `fit`.

    Returns
    -------
    onlinekern.evaluate.Comparison

    Raises
    ------
    ClusterLost
        If the scheduler goes away. The runs of workers that die are done again.
    WorkerUnfit
        As `fit`.
    ValueError, MemoryError
        As `onlinekern.evaluate.compare`.
    ImportError
        If dask is missing.
    """
    require("distributed")
    setting = Setting(repeats, shuffle, kernel, gamma, settings or {}, seed, window)
    with cluster_of(client) as found, showing_progress(progress) as show:
        return run_compare(found, methods, source, test, CompareTasks(setting), show)
