"""Reference values of the integrals of Yukawa's kernel over a flat triangle.

    V(x) = int_T G dS_y,   g(x) = grad V(x),   K(x) = int_T dG/dn_y dS_y,   G = exp(-kappa r)/(4 pi r),

n along (v1-v0) x (v2-v0).  Running the script writes ../data/yukawa_integrals.csv.  All are double
integrals of the kernel itself, in 64 bits of mantissa; no antiderivative is used.  Input
coordinates are doubles and count as exact.

Where the projection p of x lies in the triangle, or close to it: the triangle is a signed sum of
right triangles with a corner at p and another at the foot of p on an edge (Duffy 1982), each
integrated by the tanh-sinh rule in both directions (Takahasi and Mori 1974), whose points crowd
at p, at the feet and at the ends as the integrand does; steps of 1/64 and 1/96 are compared.
Elsewhere: the longest edge is bisected until a piece is smaller than half its distance and than
3/kappa; pieces get products of Gauss rules of 12 and 16 points; both are compared.  Some cases are
done in both ways.  g is nan on an edge; in the plane, inside, it is the mean of both sides' limits,
and its tangential part is left out (nan) there, where the double integral does not exist.

Cases: triangles of several shapes up to aspects of 300, x at distances from 0 (centroid, an edge, a
vertex) to 10 longest edges, kappa times the longest edge from 1e-8 to 1000.
"""
import csv
import math
import pathlib
import random

import numpy as np

from triangle_cases import place

Real = np.longdouble
PI = Real("3.14159265358979323846264338327950288")


def tanh_sinh(steps):
    """Nodes and weights on [0, 1]; nodes near 0 keep all digits."""
    t = np.arange(-4 * steps, 4 * steps + 1).astype(Real) / steps
    e = np.exp(-PI * np.sinh(t))
    return 1 / (1 + e), PI * np.cosh(t) * e / (1 + e) ** 2 / steps


def gauss(n):
    """Nodes and weights on [0, 1] by Newton's method."""
    z = np.cos(PI * (np.arange(n).astype(Real) + Real(3) / 4) / (n + Real(1) / 2))
    for _ in range(8):
        p0, p1 = np.ones(n, Real), z
        for j in range(2, n + 1):
            p0, p1 = p1, ((2 * j - 1) * z * p1 - (j - 1) * p0) / j
        slope = n * (z * p1 - p0) / (z * z - 1)
        z = z - p1 / slope
    return (1 + z) / 2, 1 / ((1 - z * z) * slope * slope)


SINH = {steps: tanh_sinh(steps) for steps in (64, 96)}
GAUSS = {n: gauss(n) for n in (12, 16)}


def kernel_sums(offset, weight, kappa):
    """Sums of G and grad_x G over points y = x - offset, [3][points]."""
    r = np.sqrt((offset * offset).sum(axis=0))
    g = weight * np.exp(-kappa * r) / r
    slope = g * (1 + kappa * r) / (r * r)
    return np.concatenate([[g.sum()], -(offset * slope).sum(axis=1)]) / (4 * PI)


def frame(tri):
    normal = np.cross(tri[1] - tri[0], tri[2] - tri[0])
    return normal / np.sqrt(normal @ normal)


def polar(tri, x, kappa, steps):
    """By signed right triangles about the projection of x."""
    u, u_weight = SINH[steps]
    n = frame(tri)
    height = (x - tri[0]) @ n
    p = x - height * n
    total = np.zeros(4, Real)
    for k in range(3):
        a, b = tri[k], tri[(k + 1) % 3]
        along = (b - a) / np.sqrt((b - a) @ (b - a))
        out = np.cross(along, n)
        d = (a - x) @ out
        if d == 0:
            continue
        for end, sign in ((b, 1), (a, -1)):
            s = (end - x) @ along
            if s == 0:
                continue
            # y = p + u (d out + v s along)
            v, v_weight = SINH[steps]
            uu, vv = np.meshgrid(u, v, indexing="ij")
            weight = np.outer(u * u_weight, v_weight) * abs(d * s)
            offset = (np.multiply.outer(height * n, np.ones_like(uu))
                      - np.multiply.outer(d * out, uu) - np.multiply.outer(s * along, uu * vv))
            part = kernel_sums(offset.reshape(3, -1), weight.ravel(), kappa)
            total += sign * np.sign(s) * np.sign(d) * part
    return total


def distance(tri, x):
    n = frame(tri)
    inside = all((a - x) @ np.cross(b - a, n) >= 0 for a, b in zip(tri, np.roll(tri, -1, axis=0)))
    if inside:
        return abs((x - tri[0]) @ n)
    best = []
    for a, b in zip(tri, np.roll(tri, -1, axis=0)):
        t = min(max(((x - a) @ (b - a)) / ((b - a) @ (b - a)), Real(0)), Real(1))
        best.append(np.sqrt(((a + t * (b - a) - x) ** 2).sum()))
    return min(best)


def bisected(tri, x, kappa, points):
    """By bisection and Gauss rules in collapsed coordinates."""
    nearest = distance(tri, x)
    stack, leaves = [tri], []
    while stack:
        t = stack.pop()
        edges = [((t[(k + 1) % 3] - t[k]) ** 2).sum() for k in range(3)]
        k = int(np.argmax(edges))
        size = np.sqrt(edges[k])
        away = distance(t, x)
        if kappa * (away - nearest) > 55:
            continue
        if size > min(away / 2, 3 / kappa):
            middle = (t[k] + t[(k + 1) % 3]) / 2
            stack.append(np.array([t[k], middle, t[(k + 2) % 3]]))
            stack.append(np.array([middle, t[(k + 1) % 3], t[(k + 2) % 3]]))
        else:
            leaves.append(t)
    u, w = GAUSS[points]
    uu, vv = np.meshgrid(u, u, indexing="ij")
    weight = np.outer(w * u, w).ravel()
    uu, vv = uu.ravel(), vv.ravel()
    total = np.zeros(4, Real)
    for t in leaves:
        a, b, c = t
        area2 = np.cross(b - a, c - a)
        y = (np.multiply.outer(a, 1 - uu) + np.multiply.outer(b, uu * (1 - vv))
             + np.multiply.outer(c, uu * vv))
        total += kernel_sums(np.asarray(x)[:, None] - y, weight * np.sqrt(area2 @ area2), kappa)
    return total


def evaluate(tri, x, kappa):
    """[V, gx, gy, gz], K"""
    tri, x, kappa = np.array(tri, Real), np.array(x, Real), Real(kappa)
    n = frame(tri)
    height = (x - tri[0]) @ n
    away = distance(tri, x)
    size = max(np.sqrt(((tri[k] - tri[k - 1]) ** 2).sum()) for k in range(3))
    is_over = away - abs(height) < 1e-3 * size and kappa * (away - abs(height)) < 3
    if is_over:
        fine, coarse = polar(tri, x, kappa, 96), polar(tri, x, kappa, 64)
    else:
        fine, coarse = bisected(tri, x, kappa, 16), bisected(tri, x, kappa, 12)
    in_plane = height == 0 and is_over
    scale = [abs(fine[0])] + [np.sqrt((fine[1:] ** 2).sum())] * 3
    if in_plane:  # what is left of the normal part is 0
        fine[1:], coarse[1:] = np.nan, np.nan
    for f, c, s in list(zip(fine, coarse, scale))[:1 if in_plane else 4]:
        assert abs(f - c) < 2e-15 * s, (tri, x, kappa, f, c)
    if is_over and not in_plane and away > 0.05 * size and kappa * size < 40:
        other = bisected(tri, x, kappa, 16)
        assert np.all(np.abs(other - fine) < 1e-15 * np.array(scale)), (other, fine)
    return fine, Real(0) if height == 0 else -(fine[1:] @ n)


def shapes():
    yield "equilateral", [(0, 0), (1, 0), (0.5, 0.875)]
    yield "right", [(0, 0), (1, 0), (0, 0.625)]
    yield "obtuse", [(0, 0), (1, 0), (-0.25, 0.375)]
    yield "sliver_20", [(0, 0), (1, 0), (0.3125, 0.0546875)]
    yield "sliver_300", [(0, 0), (1, 0), (0.6875, 0.00341796875)]


def cases(rng):
    for shape, flat in shapes():
        width = flat[2][1]
        centre = (sum(c[0] for c in flat) / 3, sum(c[1] for c in flat) / 3)
        middle = (0.5, 0.0)
        spots = {"centroid": centre, "edge": middle, "vertex": flat[1],
                 "beside": (0.5, -0.25 * width), "past": (1 + width, 0.0),
                 "near_edge": (0.5, width * 2.0 ** -12)}
        for spot, (u, v) in spots.items():
            for up in (0, 1e-6, 1e-3, 0.1, 1):
                if up > 0 and spot in ("past", "near_edge") and up not in (1e-3, 1):
                    continue
                for kappa in rng.sample([1e-8, 1e-3, 0.1, 1, 3, 10, 30, 100, 1000], 2):
                    height = up * width * (-1 if rng.random() < 0.3 else 1)
                    tri = [[a, b, 0.0] for a, b in flat]
                    yield f"{shape}_{spot}_{up:g}_{kappa:g}", tri, [u, v, height], kappa
        for far in (0.3, 1, 2, 4, 10):
            for kappa in rng.sample([1e-8, 1e-2, 0.3, 1, 3, 10, 30, 100], 3):
                tri, _ = place(rng, flat, 1, rng.uniform(0, 1))
                centroid = [sum(v[i] for v in tri) / 3 for i in range(3)]
                way = [rng.gauss(0, 1) for _ in range(3)]
                x = [c + far * w / math.hypot(*way) for c, w in zip(centroid, way)]
                yield f"{shape}_far_{far:g}_{kappa:g}", tri, x, kappa


def main():
    rng = random.Random(1924)
    target = pathlib.Path(__file__).resolve().parents[1] / "data" / "yukawa_integrals.csv"
    with open(target, "w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["name"] + [f"v{i}{c}" for i in range(3) for c in "xyz"]
                       + ["x", "y", "z", "kappa", "V", "gx", "gy", "gz", "K"])
        for name, tri, x, kappa in cases(rng):
            values, k = evaluate(tri, x, kappa)
            show = lambda v: np.format_float_scientific(v, precision=18)
            table.writerow([name] + [repr(float(c)) for v in tri + [x] for c in v] + [repr(kappa)]
                           + [show(v) for v in values] + [show(k)])


if __name__ == "__main__":
    main()
