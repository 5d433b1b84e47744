"""Passages on the learners whose model is a race of experts. See `onlinekern._docs`."""

PASSAGES = {
    "race_parameters": """
        time_budget : float > 0, default=100.0
            Microseconds that a sample may cost, most of the time, on one core of 2024 with AVX2: it
            decides how large the experts are and how many of them vote. It is nominal: nothing is
            measured, so that results are the same on every machine. The first 1,024 samples are
            learnt by all experts, at about twice that. The default gives the largest experts 400
            landmarks (300 in regression), with which one pass comes close to a tuned SVC.
        memory_budget : float > 0, default=64.0
            Megabytes that the experts may take at first.
        n_epochs : int >= 1, default=1
            Passes of `fit` over the data. `partial_fit` always makes one.
        shuffle : bool, default=True
            Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
        random_state : int, RandomState instance or None, default=None
            Seed of the order and of the experts' draws.
        window : int >= 1 or None, default=None
            Samples whose kernel values are computed together; None lets each expert choose. It
            changes the speed, never a result.
        n_jobs : int or None, default=None
            Threads that experts learn in, and that rows are predicted in; None means 1 unless in a
            ``joblib.parallel_backend`` context. It never changes a result.
    """,
    "race_attributes": """
        n_seen_ : int
            Samples learnt; those of weight 0 do not count.
        cumulative_loss_ : float
            Sum of weight times loss of the answers, each given before its sample was learnt.
        n_features_in_ : int
            Features of a sample.
    """,
    "race_notes": """
        The same samples give the same model, in whatever batches they come. Time and memory per
        sample do not grow with the stream. Features are clipped to five deviations. Samples are
        learnt in float32. d in the widths of kernels is the number of features. What is predicted
        for a sample before it is learnt is scaled by moments that include it; `predict` scales by
        those of the samples learnt.
    """,
    "race_references": """
        .. [1] N. Littlestone, M. K. Warmuth (1994). The weighted majority algorithm. Information
           and Computation 108, 212-261.
        .. [2] N. Cesa-Bianchi, G. Lugosi (2006). Prediction, learning, and games. Cambridge
           University Press.
    """,
}
