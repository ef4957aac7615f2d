"""One right-hand side after the other, with and without what was learnt from those before.

    fmbem study --problem bus --pc none --rhs groups --export --out conductors
    python3 examples/recycling.py conductors/system-1

reads A.npy and b.npy, which fmbem study --export has written, and counts the products with A that
GMRES takes to 1e-6 for each right-hand side, and those that GCROT(m, k) takes, once from nothing for
each, once with the subspace of the last ones (E. de Sturler 1999, SIAM J. Numer. Anal. 36; J. E.
Hicken and D. W. Zingg 2010, SIAM J. Sci. Comput. 32). It needs SciPy (Debian: python3-scipy).
"""

import inspect
import pathlib
import sys

import numpy
from scipy.sparse.linalg import LinearOperator, gcrotmk, gmres

TOLERANCE = 1e-6
# SciPy 1.12 has renamed it.
RELATIVE = "rtol" if "rtol" in inspect.signature(gcrotmk).parameters else "tol"


class CountedMatrix(LinearOperator):
    """A, and how many products it was asked for."""

    def __init__(self, matrix):
        super().__init__(matrix.dtype, matrix.shape)
        self.matrix = matrix
        self.products = 0

    def _matvec(self, x):
        self.products += 1
        return self.matrix @ x


def products(matrix, right_hand_sides, solve):
    """Of each right-hand side; `solve` takes A and b and gives x."""
    counted = CountedMatrix(matrix)
    counts = []
    for b in right_hand_sides:
        before = counted.products
        x = solve(counted, b)
        counts.append(counted.products - before)
        residual = numpy.linalg.norm(b - matrix @ x) / numpy.linalg.norm(b)
        assert residual <= 2 * TOLERANCE, f"a residual of {residual} is left"
    return counts


def main(folder):
    matrix = numpy.load(folder / "A.npy")
    right_hand_sides = numpy.load(folder / "b.npy")
    options = {RELATIVE: TOLERANCE, "atol": 0.0}
    kept = []  # GCROT's pairs of vectors C = A U, which it brings up to date
    methods = {
        "GMRES": lambda a, b: gmres(a, b, restart=100, **options)[0],
        "GCROT(20, 20)": lambda a, b: gcrotmk(a, b, m=20, k=20, **options)[0],
        "the same, recycled": lambda a, b: gcrotmk(a, b, m=20, k=20, CU=kept, **options)[0],
    }
    for name, solve in methods.items():
        counts = products(matrix, right_hand_sides, solve)
        print(f"{name:20s} {sum(counts):5d} products: {', '.join(map(str, counts))}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
