"""Fill the columns of the tables: which learners stand in them, and what is shown of each."""

from statistics import mean as average

from figures import mean
from methods import GAMMAS, library

LABELS = {"gamma": GAMMAS, "eta": (0.1, 0.3, 1.0, 3.0, 10.0)}
TARGETS = {"gamma": GAMMAS, "eta": (0.03, 0.1, 0.3, 1.0)}
# At first every score is 0: behind a margin of 0 nothing would ever enter.
BETAS, MARGINS = (1, 2, 4, 8, 16, 32, 64), (0.01, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)
LOT = {"gate": "loss_proportional"}


def stream_learners(square, sizes):
    """Return the learners of the table of mistakes."""
    n = sizes[0]
    always = {"gate": "always"}
    return {
        "linear": square.classifier(1, **always),
        f"Fourier {n}": square.classifier(n, features="fourier", **always),
        **{f"Nyström {n}": square.classifier(n, **always) for n in sizes},
        **{f"gated {n}": square.classifier(n) for n in sizes},
        "kernel PA": library("KernelPAClassifier", average=False),
        "FOGD": library(
            *("FOGDClassifier", LABELS),
            n_components=n // 2,
            loss="hinge",
            schedule="constant",
            average=False,
        ),
        "AROW": library("AROWClassifier", {"r": (0.1, 1.0, 10.0, 100.0)}, covariance="full"),
    }


def mistakes_of(figures):
    """Return the mistakes of each learner."""
    return {name: mean(one["mistakes"]) for name, one in figures.items()}


def split_learners(square, sizes):
    """Return the learners of the table of test errors."""
    return {
        **{f"all, {n}": square.classifier(n, "always") for n in sizes},
        **{f"margin, {n}": square.classifier(n) for n in sizes},
        "kernel PA": library("KernelPAClassifier", average=False),
    }


def errors_of(figures):
    """Return the test error of each learner, the share that entered, and mistakes on the way."""
    shown = {}
    for name, one in figures.items():
        share = f" ({average(one['share']):.2f})" if "margin" in name else ""
        shown[name] = mean(one["error"]) + share
    gated = [name for name in figures if name.startswith("margin")]
    shown["mistakes on the way"] = mean(figures[gated[-1]]["mistakes"])
    shown["of kernel PA"] = mean(figures["kernel PA"]["mistakes"])
    return shown


def whole_learners(square, sizes):
    """Return the learners of the table of whole sets."""
    return {
        f"{kind}, {n}": square.classifier(n, **gate)
        for kind, gate in (("margin", {}), ("lot", LOT))
        for n in sizes
    }


def selection_learners(square, sizes):
    """Return the learners of the table of landmarks."""
    return {
        f"{selection}, {n}": square.classifier(n, selection=selection)
        for selection in ("first", "margin", "ald")
        for n in sizes
    }


def gate_learners(square, sizes):
    """Return the learners of the table of samplers."""
    n = sizes[0]
    return {
        "all": square.classifier(n, "always"),
        **{f"margin < {m}": square.classifier(n, margin=m) for m in (1.0, 0.75, 0.5)},
        "lot": square.classifier(n, **LOT),
        "lot, weight 1/p": square.classifier(n, weighted=True, **LOT),
        "lot, beta 2": square.classifier(n, beta=2.0, **LOT),
        "lot, beta 2, weight 1/p": square.classifier(n, beta=2.0, weighted=True, **LOT),
    }


def default_learners(square, sizes):
    """Return the learners of the table that the defaults were chosen by."""
    return {
        f"{selection}, margin < {margin}, reg {reg}": square.classifier(
            n, selection=selection, margin=margin, reg=reg
        )
        for n in sizes
        for selection in ("first", "margin")
        for margin in (0.5, 0.75, 1.0)
        for reg in (0.1, 1.0)
    }


def share_learners(square, sizes):
    """Return the learners of the picture: from a hundredth of the samples to all of them."""
    n = sizes[0]
    return {
        **{f"margin < {m}": square.classifier(n, margin=m) for m in MARGINS},
        **{f"lot, beta {b}": square.classifier(n, beta=float(b), **LOT) for b in BETAS},
        **{
            f"weighted lot, beta {b}": square.classifier(n, beta=float(b), weighted=True, **LOT)
            for b in BETAS
        },
        "all": square.classifier(n, "always"),
    }


def errors_and_shares(figures):
    """Return the test error and the share that entered."""
    return {
        name: f"{mean(one['error'])} ({average(one['share']):.2f})" for name, one in figures.items()
    }


def errors_and_costs(figures):
    """Return test error, share that entered and seconds of CPU time; mistakes on the way."""
    shown = {}
    for name, one in figures.items():
        share = f"{average(one['share']):.2f}; " if "share" in one else ""
        shown[name] = f"{mean(one['error'])} ({share}{average(one['seconds']):.1f} s)"
    last = list(figures)[-1]
    return {**shown, f"mistakes on the way, {last}": mean(figures[last]["mistakes"])}


def errors_and_landmarks(figures):
    """Return the test error and the number of landmarks."""
    return {
        name: f"{mean(one['error'])} ({average(one['landmarks']):.0f})"
        for name, one in figures.items()
    }


def size_learners(square, sizes):
    """Return the learners of the table of sizes."""
    return {f"margin, {n}": square.classifier(n) for n in sizes}


def errors_and_seconds(figures):
    """Return test error and CPU seconds of a fit or a pass; seconds of tuning the machine."""
    tuning = figures["SVC"]["seconds of tuning"]
    shown = {
        name: f"{mean(one['error'])} ({average(one['seconds']):.1f} s)"
        for name, one in figures.items()
    }
    return {**shown, "tuning of the SVC": f"{tuning:.0f} s"}


def target_learners(square, sizes):
    """Return the learners of the table of regression."""
    return {
        **{f"Nyström {n}": square.regressor(n) for n in sizes},
        **{f"Fourier {n}": square.regressor(n, features="fourier") for n in sizes[:1]},
        "FOGD": library("FOGDRegressor", TARGETS, n_components=600),
        "NOGD": library("NOGDRegressor", TARGETS, budget=500),
        "kernel OGD": library("KernelOGDRegressor", TARGETS),
    }


def squares_of(figures):
    """Return the mean squared error of each learner."""
    return {name: mean(one["mistakes"], 3) for name, one in figures.items()}
