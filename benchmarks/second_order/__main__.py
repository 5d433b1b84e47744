"""Compare kernel least squares with a tuned support vector machine and first-order learners.

    python benchmarks/second_order --data DIR [--table NAME ...] [--sets NAME ...] [--orders N]
        [--n-components N ...] [--json FILE] [--markdown FILE] [--picture FILE] [--peer]

Tables: `mistakes` (one pass, each sample predicted before it is learnt), `split` and `more` (test
error after one pass, with a tuned SVC), `whole` (the published training and test parts),
`selection` (who becomes a landmark), `defaults` (what they were chosen by), `gates`, `shares`
(error against the share of samples that enter; `--picture` draws it), `sizes` (n_components at
which an SVC is no longer ahead) and `regression`. DIR holds the sets as NAME.libsvm.xz. A learner
chooses gamma, and its step size if it has one, by its own mistakes on the first order. Every figure
is a mean over the orders with its standard deviation. What FILE of `--json` holds already is not
computed again. `--peer` computes least squares by NumPy (`peer_kernel_rls.py`).
"""

import argparse
import sys
import warnings
from pathlib import Path

sys.path.insert(1, str(Path(__file__).parents[1]))

from figures import Kept
from methods import LeastSquares
from picture import draw
from tables import TABLES
from threadpoolctl import threadpool_limits


def arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with NAME.libsvm.xz")
    parser.add_argument("--table", nargs="+", choices=sorted(TABLES), default=list(TABLES))
    parser.add_argument("--sets", nargs="+", help="sets in place of the table's")
    parser.add_argument("--orders", type=int, default=5)
    parser.add_argument("--n-components", nargs="+", type=int, help="in place of the table's")
    parser.add_argument("--json", metavar="FILE", help="figures that are known, and the new ones")
    parser.add_argument("--markdown", metavar="FILE", help="write the tables")
    parser.add_argument("--picture", metavar="FILE", help="draw the table of shares")
    parser.add_argument("--peer", action="store_true", help="least squares by NumPy")
    return parser.parse_args()


def main():
    """Compute and print the tables."""
    options = arguments()
    warnings.simplefilter("ignore")
    kept, square, texts = Kept(options.json), LeastSquares(options.peer), []
    with threadpool_limits(1):
        for name in options.table:
            found = TABLES[name].compute(options, kept, square, name)
            texts.append(TABLES[name].markdown(found))
            print(f"\n{texts[-1]}", flush=True)
            if name == "shares" and options.picture:
                draw(found, options.picture)
    if options.markdown:
        Path(options.markdown).write_text("\n".join(texts), encoding="utf-8")


if __name__ == "__main__":
    main()
