"""Print test errors of kernel least squares of classes by the prior: given, and followed.

    python benchmarks/priors.py FOLDER [--orders 3] [--rows 8000] [--only NAME,...]

FOLDER holds the sets (LIBSVM text, packed with xz). Each is put into random orders; of its first
rows, 70 % are learnt in one pass, standardised as they come, in float32, and the others test.
Prints mean test errors in per cent with the default and with `reg="auto"`, and what it has chosen.
"""

import numpy as np
from command import read_options
from forests import error_of, load

from onlinekern import KernelRLSClassifier, OnlineStandardScaler, make_stream_pipeline

SETS = [
    *("segment", "splice", "spambase", "phishing", "satimage", "ijcnn1", "covtype.first20k"),
    *("waveform5000", "eeg-eye-state", "german.numer_scale", "cod-rna", "htru2", "elec2"),
    *("optdigits", "shuttle", "page-blocks", "dna.train", "a9a"),
]
PRIORS = (0.1, "auto")


def show(folder, name, rows, orders):
    """Print the errors of a set."""
    errors, chosen = [], []
    for order in range(orders):
        X, y, Z, v = load(folder, name, rows, order)
        classes = np.unique(np.concatenate([y, v]))
        found = []
        for reg in PRIORS:
            learner = KernelRLSClassifier(reg=reg, random_state=0)
            model = make_stream_pipeline(OnlineStandardScaler(clip=5.0), learner)
            model.partial_fit(X.astype(np.float32), y, classes=classes)
            found.append(error_of(model.predict(Z.astype(np.float32)), v, y, False))
        errors.append(found)
        chosen.append(f"{model[-1].reg_:g}")
    cells = [f"{error:.2f}" for error in np.mean(errors, axis=0)]
    print(f"| {name} | {' | '.join(cells)} | {', '.join(chosen)} |", flush=True)


def main():
    """Print a line for each set."""
    given = read_options(__doc__, "folder", orders=3, rows=8_000, only=tuple(SETS))
    print(f"| set | {' | '.join(map(str, PRIORS))} | chosen |\n|---|---|---|---|")
    for name in given.only:
        show(given.folder, name, given.rows, given.orders)


if __name__ == "__main__":
    main()
