"""Reference values of a flat triangle's single layer potential, its gradient and the double layer.

    V(x) = 1/(4 pi) int_T 1/|x-y| dS_y,    g(x) = grad V(x),        T = (v0, v1, v2),
    K(x) = 1/(4 pi) int_T n.(x-y)/|x-y|^3 dS_y,        n along (v1-v0) x (v2-v0).

Running the script writes ../data/triangle_integrals.csv (20 significant digits).  All input
coordinates are doubles (written with repr) and count as exact.  Geometry is done in rational
numbers, so "x lies in the plane" and "x lies on the edge" are decided exactly; integrals are done
by adaptive Gauss-Legendre quadrature in 60 digits.  No antiderivative is used beyond the radial
one below.  g is nan on edges and vertices; in the open triangle it is the mean of the limits from
the two sides (normal component 0), and so is K, 0 all over the plane.  A component that vanishes
identically is written 0.0.

class: sliver    height / longest edge = 1e-2, 1e-4, 1e-6 up to rounding, x anywhere
       touching  x on an edge or vertex
       coplanar  x exactly in the plane: inside (nearness 0), outside, or on the line of an edge
       near      x off the plane, or off an edge or vertex in the plane, by <= 1e-1 sizes
       far       x at 4 and more sizes (longest edges) from the centroid
       regular   everything else
nearness: distance from x to the triangle divided by its longest edge.

Formulas.  With p the projection of x onto the plane, h = (x-p).n, and polar coordinates (rho, phi)
about p, r = sqrt(rho^2+h^2), signed subtriangles (p, a, b) over the edges (a, b) give
    int_T 1/r dS     = sum int (r-|h|) dphi       = sum d int 1/(r+|h|) ds,
    int_T |h|/r^3 dS = sum int (1-|h|/r) dphi     = sum d int 1/(r(r+|h|)) ds      (solid angle),
as dphi = d ds/rho^2, with d the signed distance from p to the edge's line (> 0: p inside) and s the
arc length from the foot of p: the cancelling factor rho^2 = (r-|h|)(r+|h|) is divided out.  In the
plane, grad_x 1/r = -grad_y 1/r and Gauss' theorem give  -sum m int 1/r ds  (m outward normal of the
edge); the jump over the plane is that of Kellogg, Foundations of Potential Theory (1929), ch. VI.
The s integrals have branch points at s = +-i sqrt(d^2+h^2); bisection grades towards them.
Adaptive quadrature: Davis & Rabinowitz, Methods of Numerical Integration (1984), ch. 6.
"""
import csv
import math
import pathlib
from fractions import Fraction as Fr

from mpmath import mp, mpf

from triangle_cases import all_cases, comb, cross, dot, sub

mp.dps = 60
COARSE = dict(n=28, m=40, tol=mpf(10) ** -36)
FINE = dict(n=40, m=56, tol=mpf(10) ** -46)
_RULES = {}


def gauss(n):
    """Nodes and weights on [0,1]: Newton's method on the Legendre polynomial P_n."""
    if n not in _RULES:
        rule = []
        for k in range(n):
            z = mp.cos(mp.pi * (k + mpf(3) / 4) / (n + mpf(1) / 2))
            for _ in range(8):
                p0, p1 = mpf(1), z
                for j in range(2, n + 1):
                    p0, p1 = p1, ((2 * j - 1) * z * p1 - (j - 1) * p0) / j
                dp = n * (z * p1 - p0) / (z * z - 1)
                z -= p1 / dp
            rule.append(((1 + z) / 2, 1 / ((1 - z * z) * dp * dp)))
        assert abs(sum(w for _, w in rule) - 1) < mpf(10) ** -55
        _RULES[n] = rule
    return _RULES[n]


def exact(v): return [Fr(c) for c in v]
def big(q): return mpf(q.numerator) / q.denominator if isinstance(q, Fr) else mpf(q)
def root(q): return mp.sqrt(big(q))


def edge_integrals(lo, hi, d, h, n, m, tol):
    """int_lo^hi [1/(r+h), 1/r, 1/(r(r+h))] ds, r = sqrt(s^2+d^2+h^2), h >= 0.

    A panel is accepted when the n and m point rules agree to tol for each (positive) integrand."""
    def panel(a, b, k):
        out = [mpf(0)] * 3
        for t, w in gauss(k):
            r = mp.sqrt((a + (b - a) * t) ** 2 + c2)
            f, g = w / (r + h), w / r
            out = [out[0] + f, out[1] + g, out[2] + f / r]
        return [(b - a) * v for v in out]

    c2, total = d * d + h * h, [mpf(0)] * 3
    stack = [(lo, mpf(0)), (mpf(0), hi)] if lo < 0 < hi else [(lo, hi)]
    while stack:
        a, b = stack.pop()
        fine = panel(a, b, m)
        if all(abs(p - q) <= tol * q for p, q in zip(panel(a, b, n), fine)):
            total = [p + q for p, q in zip(total, fine)]
        else:
            stack += [(a, (a + b) / 2), ((a + b) / 2, b)]
    return total


def evaluate(tri, x, rule=FINE):
    """(V, [gx, gy, gz] or None, nearness, K) from exact coordinates; formulas in the module's head."""
    normal = cross(sub(tri[1], tri[0]), sub(tri[2], tri[0]))
    height = dot(sub(x, tri[0]), normal)
    h = abs(big(height)) / root(dot(normal, normal))
    pot, angle, grad, on_edge, dists, inside = mpf(0), mpf(0), [mpf(0)] * 3, False, [], True
    for i in range(3):
        a, b = tri[i], tri[(i + 1) % 3]
        e = sub(b, a)
        out = cross(e, normal)
        d2, lo2, hi2 = dot(sub(a, x), out), dot(sub(a, x), e), dot(sub(b, x), e)
        d, lo, hi = big(d2) / root(dot(out, out)), *(big(q) / root(dot(e, e)) for q in (lo2, hi2))
        inside = inside and d2 >= 0
        dists.append(mp.sqrt(h * h + d * d + max(lo, -hi, 0) ** 2))
        if d2 == 0 and height == 0 and lo2 <= 0 <= hi2:
            on_edge = True
            continue
        over_rh, over_r, over_rrh = edge_integrals(lo, hi, d, h, **rule)
        pot, angle = pot + d * over_rh, angle + d * over_rrh
        grad = [g - big(q) / root(dot(out, out)) * over_r for g, q in zip(grad, out)]
    side = (height > 0) - (height < 0)
    grad = [g - side * angle * big(q) / root(dot(normal, normal)) for g, q in zip(grad, normal)]
    size = max(root(dot(sub(tri[i], tri[i - 1]), sub(tri[i], tri[i - 1]))) for i in range(3))
    norm = mp.sqrt(dot(grad, grad))
    grad = [g / (4 * mp.pi) if abs(g) > mpf(10) ** -32 * norm else mpf(0) for g in grad]
    nearness = (h if inside else min(dists)) / size
    return pot / (4 * mp.pi), None if on_edge else grad, nearness, side * angle / (4 * mp.pi)


# ---- second ways, used for checks only ----------------------------------------------------------

def direct(tri, x, n=18):
    """[V, gx, gy, gz] by 2D quadrature of 1/r and (y-x)/r^3 in space, no polar coordinates.

    The longest edge is bisected until the triangle is further from x than its own size; leaves
    use a product rule in collapsed coordinates (Duffy, 1982) about one vertex."""
    stack, total = [[[big(c) for c in sub(v, x)] for v in tri]], [mpf(0)] * 4
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
            (x0, y0, z0), (x1, y1, z1) = comb((1 - u, a), (u, b)), comb((u, c), (-u, b))
            for v, wv in gauss(n):
                y = x0 + v * x1, y0 + v * y1, z0 + v * z1
                r2 = y[0] * y[0] + y[1] * y[1] + y[2] * y[2]
                f = wu * wv * u * jac / mp.sqrt(r2)
                total[0] += f
                f /= r2
                total[1:] = [t + f * q for t, q in zip(total[1:], y)]
    return [t / (4 * mp.pi) for t in total]


def direct_touching(tri, x):
    """V for x in the closed triangle.  The triangle (x, a, b) and its half-size copy at x have
    potentials 2:1, so its V is twice that of the far half, where the kernel is smooth."""
    total, normal = mpf(0), cross(sub(tri[1], tri[0]), sub(tri[2], tri[0]))
    for i in range(3):
        a, b = tri[i], tri[(i + 1) % 3]
        if dot(cross(sub(a, x), sub(b, x)), normal):
            a2, b2 = comb((Fr(1, 2), a), (Fr(1, 2), x)), comb((Fr(1, 2), b), (Fr(1, 2), x))
            total += 2 * (direct([a, b, b2], x)[0] + direct([a, b2, a2], x)[0])
    return total


def differences(tri, x, near):
    """Gradient by central differences of V in 60 digits, extrapolated (Richardson, 1911)."""
    size = max(dot(sub(tri[i], tri[i - 1]), sub(tri[i], tri[i - 1])) for i in range(3))
    step = Fr(min(near, 1) * math.sqrt(size)) / 2 ** 24
    def slope(i, t):
        y = [[c + s * t * (i == k) for k, c in enumerate(x)] for s in (1, -1)]
        return (evaluate(tri, y[0])[0] - evaluate(tri, y[1])[0]) / big(2 * t)
    return [(64 * slope(i, step / 2) - 20 * slope(i, step) + slope(i, 2 * step)) / 45
            for i in range(3)]


def check(rows, results):
    """Assert the table against the other ways; print the largest relative deviations."""
    worst = {}
    def agree(kind, value, ref, tol):
        err = mp.sqrt(dot(sub(value, ref), sub(value, ref)) / dot(ref, ref))
        assert err < tol, (kind, name, mp.nstr(err, 3))
        count, old = worst.get(kind, (0, 0))
        worst[kind] = count + 1, max(err, old)

    known = ["0.099189377627951192", "0.070137481542397516", "0.029051896085553676",
             "0.034775298546314300"]
    for index, ((name, cls, tri, x), (pot, grad, near, flux)) in enumerate(zip(rows, results)):
        tri, x = [exact(v) for v in tri], exact(x)
        if name.startswith("known"):
            agree("known values", [pot], [mpf(known[index])], mpf("1e-16"))
        p2, g2, _, flux2 = evaluate(tri, x, COARSE)
        # each component by itself
        for q, q2 in zip([pot, flux] + (grad or []), [p2, flux2] + (g2 or [])):
            if q or q2:
                agree("coarser quadrature", [q2], [q], mpf("1e-21"))
        if near == 0 and index % 4 == 0:
            agree("2D touching", [direct_touching(tri, x)], [pot], mpf("1e-20"))
        if (near > 0.05 and cls != "sliver" and index % 6 == 0) or "+1e-06" in name and index % 2:
            ref = direct(tri, x)
            agree("2D V", ref[:1], [pot], mpf("1e-20"))
            if grad and near > 0:
                agree("2D gradient", ref[1:], grad, mpf("1e-19"))
        if flux:  # the gradient's part along the normal, of which it may be a small one
            normal = [big(q) for q in cross(sub(tri[1], tri[0]), sub(tri[2], tri[0]))]
            along = -dot(grad, normal) / mp.sqrt(dot(normal, normal))
            assert abs(along - flux) < mpf("1e-30") * mp.sqrt(dot(grad, grad)), name
        if grad and near > 0 and index % 9 == 0:
            agree("differences", differences(tri, x, float(near)), grad, mpf("1e-18"))
        if cls == "coplanar" and near == 0 and "x=y" not in name and index % 3 == 0:
            agree("differences inside", differences(tri, x, 0.02), grad, mpf("1e-18"))
    for kind, (count, err) in worst.items():
        print(f"{kind:20s} {count:5d} comparisons, largest relative deviation {mp.nstr(err, 2)}")


def main():
    rows = list(all_cases())
    results = [evaluate([exact(v) for v in tri], exact(x)) for _, _, tri, x in rows]
    check(rows, results)
    show = lambda v: mp.nstr(v, 20, strip_zeros=False, min_fixed=1, max_fixed=0) if v else "0.0"
    target = pathlib.Path(__file__).resolve().parents[1] / "data" / "triangle_integrals.csv"
    with open(target, "w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["name"] + [f"v{i}{c}" for i in range(3) for c in "xyz"]
                       + ["x", "y", "z", "V", "gx", "gy", "gz", "K", "nearness", "class"])
        for i, ((name, cls, tri, x), (pot, grad, near, flux)) in enumerate(zip(rows, results)):
            table.writerow([f"{i:03d}_{name}"] + [repr(c) for v in tri + [x] for c in v]
                           + [show(pot)]
                           + ([show(g) for g in grad] if grad else ["nan"] * 3)
                           + [show(flux), repr(float(near)), cls])
    counts = {c: sum(r[1] == c for r in rows) for c in sorted({r[1] for r in rows})}
    print(len(rows), "cases:", counts)


if __name__ == "__main__":
    main()
