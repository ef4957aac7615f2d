"""Reference values of the second derivatives of a flat triangle's single layer potential.

    H(x) = grad grad V(x),    V(x) = 1/(4 pi) int_T 1/|x-y| dS_y,    T = (v0, v1, v2).

Running the script writes ../data/triangle_hessians.csv (20 significant digits): differences, in 60
digits, of the gradients of triangle_integrals.py, which are quadratures; extrapolated (Richardson,
1911) until steps of 2^-20 of the distance leave 1e-35.  Every third case that is not too close is
checked against the quadrature in space of (3 r r^T - r^2 I)/r^5, and each trace against 0.

Cases: triangles of aspects (longest edge over height) 1 to 1e6; points at 1e-9 ... 10 longest edges
(of slivers heights) above the centroid, the middle of an edge and a vertex, off an edge in the plane
and out of it, and in the direction of the longest edge.
"""
import csv
import pathlib
from fractions import Fraction as Fr

from mpmath import mp, mpf

from triangle_cases import dot, sub
from triangle_integrals import big, comb, cross, evaluate, exact, gauss

ENTRIES = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]


def hessian(tri, x):
    """[xx, xy, xz, yy, yz, zz]"""
    _, _, near, _ = evaluate(tri, x)
    size = max(dot(sub(tri[i], tri[i - 1]), sub(tri[i], tri[i - 1])) for i in range(3))
    step = Fr(float(min(near, 1) * mp.sqrt(big(size)))) / 2 ** 20

    def slope(axis, t):
        ends = [[c + s * t * (axis == k) for k, c in enumerate(x)] for s in (1, -1)]
        forward, back = (evaluate(tri, y)[1] for y in ends)
        return [(p - q) / big(2 * t) for p, q in zip(forward, back)]

    rows = []
    for axis in range(3):
        fine, mid, wide = (slope(axis, t) for t in (step / 2, step, 2 * step))
        rows.append([(64 * f - 20 * m + w) / 45 for f, m, w in zip(fine, mid, wide)])
    norm = mp.sqrt(sum(v * v for row in rows for v in row))
    assert abs(rows[0][0] + rows[1][1] + rows[2][2]) < mpf("1e-25") * norm
    for i, j in ENTRIES:
        assert abs(rows[i][j] - rows[j][i]) < mpf("1e-25") * norm
    return [rows[i][j] for i, j in ENTRIES], norm, near


def in_space(tri, x, n=18):
    """The same by quadrature in space, as triangle_integrals.direct()."""
    stack, total = [[[big(c) for c in sub(v, x)] for v in tri]], [mpf(0)] * 6
    while stack:
        a, b, c = max((t[i:] + t[:i] for t in [stack.pop()] for i in range(3)),
                      key=lambda t: dot(sub(t[1], t[0]), sub(t[1], t[0])))
        size2, mid = dot(sub(b, a), sub(b, a)), comb((mpf(1) / 2, a), (mpf(1) / 2, b))
        centre = comb((mpf(1) / 3, a), (mpf(1) / 3, b), (mpf(1) / 3, c))
        if dot(centre, centre) < 3 * size2:
            stack += [[a, mid, c], [mid, b, c]]
            continue
        jac = cross(sub(b, a), sub(c, a))
        jac = mp.sqrt(dot(jac, jac))
        for u, wu in gauss(n):
            foot, side = comb((1 - u, a), (u, b)), comb((u, c), (-u, b))
            for v, wv in gauss(n):
                y = comb((mpf(1), foot), (v, side))
                r2 = dot(y, y)
                w = wu * wv * u * jac / (r2 * r2 * mp.sqrt(r2))
                total = [t + w * (3 * y[i] * y[j] - (r2 if i == j else 0))
                         for t, (i, j) in zip(total, ENTRIES)]
    return [t / (4 * mp.pi) for t in total]


def cases():
    """(name, triangle, x) with doubles."""
    triangles = [("regular", [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.875, 0.0]]),
                 ("tilted", [[0.3, -0.2, 0.1], [1.1, 0.4, -0.3], [0.2, 0.7, 0.6]]),
                 ("right", [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.25, 0.0]])]
    for aspect in (1e2, 1e4, 1e6):
        triangles.append((f"sliver{aspect:.0e}",
                          [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.375, 0.0, 1 / aspect]]))
    for name, tri in triangles:
        v = [[float(c) for c in p] for p in tri]
        e1, e2 = sub(v[1], v[0]), sub(v[2], v[0])
        n = cross(e1, e2)
        area2 = dot(n, n) ** 0.5
        n = [c / area2 for c in n]
        t = [c / dot(e1, e1) ** 0.5 for c in e1]
        m = cross(t, n)
        height = area2 / dot(e1, e1) ** 0.5
        places = [("centroid", [sum(p[k] for p in v) / 3 for k in range(3)], n),
                  ("edge, above", [(a + b) / 2 for a, b in zip(v[0], v[1])], n),
                  ("edge, outside", [0.7 * a + 0.3 * b for a, b in zip(v[0], v[1])], m),
                  ("edge, inside", [0.7 * a + 0.3 * b for a, b in zip(v[0], v[1])],
                   [0.25 * q - p for p, q in zip(m, n)]),
                  ("vertex", v[2], [0.6 * p + 0.8 * q for p, q in zip(m, n)]),
                  ("along", v[1], [p + 0.125 * q for p, q in zip(t, n)])]
        for place, at, direction in places:
            for distance in (1e-9, 1e-6, 1e-3, 0.125, 1.0, 3.0, 10.0):
                if "sliver" in name and distance in (1e-6, 3.0):
                    continue
                yield (f"{name} {place} {distance:g}", v,
                       [p + distance * height * d for p, d in zip(at, direction)])


def main():
    target = pathlib.Path(__file__).resolve().parents[1] / "data" / "triangle_hessians.csv"
    worst, checked = mpf(0), 0
    with open(target, "w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["name"] + [f"v{i}{c}" for i in range(3) for c in "xyz"] + list("xyz")
                       + ["xx", "xy", "xz", "yy", "yz", "zz"])
        for index, (name, tri, x) in enumerate(cases()):
            triangle, place = [exact(v) for v in tri], exact(x)
            values, norm, near = hessian(triangle, place)
            if near > 0.05 and index % 3 == 0:
                error = mp.sqrt(sum((p - q) ** 2 for p, q in zip(values, in_space(triangle, place))))
                assert error < mpf("1e-16") * norm, (name, mp.nstr(error / norm, 3))
                worst, checked = max(worst, error / norm), checked + 1
            table.writerow([name] + [repr(c) for v in tri + [x] for c in v]
                           + [mp.nstr(v, 20) for v in values])
    print(index + 1, "cases,", checked, "by quadrature in space, which differs by", mp.nstr(worst, 2))


if __name__ == "__main__":
    main()
