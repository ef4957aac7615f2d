"""Reference capacitances of two coaxial unit discs at +1/2 V and -1/2 V, (C11 - C12)/2.

Running the script writes ../data/coaxial_discs.csv: gap and capacitance in 4 pi eps0 times the
radius, 13 significant digits.  It needs numpy.

Love's equation (Love 1949; Reich 2004 closes a gap in its derivation), with the gap k:
    f(x) - int_-1^1 k/pi / (k^2 + (x-t)^2) f(t) dt = 1,        C = 1/(2 pi) int_-1^1 f dt.
f is even, smooth inside, and has layers as thick as the gap at +-1.  So it is taken as polynomials
of degree n - 1 on panels of [0, 1] that halve towards 1 down to the gap, by its values at Gauss
points (collocation).  Where a panel is far from x for its size, Gauss's rule integrates the kernel
times f; else that is exact: the kernel is -Im 1/(z-t) / pi with z = x + ik, and
int P_m(u)/(z-u) du = 2 Q_m(z), by the recurrence of Legendre's functions.
The equation's condition is 1/k, so C has some 1e-16/k of rounding; two degrees agree to 1e-12.

Kirchhoff's formula (1877) with Shaw's next term (1970) serves where the gap is smaller still:
    C = 1/(4k) + (l - 1)/(4 pi) + k (l^2 - 2)/(16 pi^2),  l = ln(16 pi/k),
which is low by k^2 (0.036 at 0.1, 0.07 at 0.01, 0.12 at 0.001).
"""
import csv
import pathlib

import numpy as np
from numpy.polynomial.legendre import leggauss, legvander

GAPS = [1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001]


def kernel_integrals(z, n):
    """[len(z)][n]: -1/pi Im int_-1^1 P_m(u)/(z-u) du by forward recurrence: for z near [-1, 1]."""
    q = np.empty((len(z), n), complex)
    q[:, 0] = np.log((z + 1) / (z - 1))
    q[:, 1] = z * q[:, 0] - 2
    for m in range(1, n - 1):
        q[:, m + 1] = ((2 * m + 1) * z * q[:, m] - m * q[:, m - 1]) / (m + 1)
    return -q.imag / np.pi


def capacitance(k, n):
    ends = [1.0]
    while ends[-1] > k / 8:
        ends.append(ends[-1] / 2)
    ends = 1 - np.array(ends + [0])
    u, w = leggauss(n)
    fine_u, fine_w = leggauss(160)  # exact to rounding where |z + sqrt(z^2 - 1)| > 1.15
    to_coefficients = np.linalg.inv(legvander(u, n - 1))
    half = np.diff(ends) / 2
    middle = ends[:-1] + half
    x = (middle[:, None] + half[:, None] * u).ravel()
    a = np.eye(len(x))
    for p in range(len(half)):
        for side in (1, -1):  # f is even
            z = (side * x - middle[p] + 1j * k) / half[p]
            near = np.abs(z + np.sqrt(z - 1) * np.sqrt(z + 1)) < 1.15
            integrals = np.empty((len(x), n))
            integrals[near] = kernel_integrals(z[near], n)
            kernel = -(1 / (z[~near, None] - fine_u)).imag / np.pi
            integrals[~near] = (kernel * fine_w) @ legvander(fine_u, n - 1)
            a[:, p * n:(p + 1) * n] -= integrals @ to_coefficients
    f = np.linalg.solve(a, np.ones(len(x)))
    return (half[:, None] * w).ravel() @ f / np.pi


def series(k):
    l = np.log(16 * np.pi / k)
    return 1 / (4 * k) + (l - 1) / (4 * np.pi) + k * (l * l - 2) / (16 * np.pi**2)


def main():
    rows = []
    for k in GAPS:
        c = capacitance(k, 20)
        assert abs(capacitance(k, 24) / c - 1) < 1e-12, k
        print(f"{k:6} {c:.13g}  series less this, over k^2: {(series(k) - c) / k**2:.3f}")
        rows.append((k, f"{c:.13g}"))
    path = pathlib.Path(__file__).resolve().parent.parent / "data" / "coaxial_discs.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("gap", "capacitance_4pi_eps0_radius"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
