"""Seeded cases for triangle_integrals.py: tuples (name, class, triangle, point) of doubles."""
import math
import random


def sub(a, b): return [p - q for p, q in zip(a, b)]
def dot(a, b): return sum(p * q for p, q in zip(a, b))
def cross(a, b): return [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
def comb(*terms): return [sum(c * v[i] for c, v in terms) for i in range(len(terms[0][1]))]


FLAT = {"right": [(0, 0), (3, 0), (0, 3)], "obtuse": [(0, 0), (6, 0), (-3, 1.5)],
        "acute": [(-1, 0), (5, 0), (2, 3.75)]}              # dyadic, with dyadic centroids
PLANES = {"xy": lambda u, v, w: (u, v, w), "yz": lambda u, v, w: (w, u, v),
          "zx": lambda u, v, w: (v, w, u), "x=y": lambda u, v, w: (u, u, v)}  # last: w = 0 only
STEPS = (1e-1, 1e-3, 1e-6, 1e-9, 1e-12)


def flat_shape(rng, kind):
    """Corners in the unit of the longest edge (roughly), in a plane."""
    if kind == "equilateral":
        return [(0, 0), (1, 0), (0.5, math.sqrt(0.75))]
    if kind == "right":
        return [(0, 0), (rng.uniform(0.3, 1), 0), (0, rng.uniform(0.3, 1))]
    if kind == "obtuse":
        return [(0, 0), (0.6, 0), (-rng.uniform(0.2, 0.4), rng.uniform(0.1, 0.3))]
    if kind == "well":
        return [(0, 0), (1, 0), (rng.uniform(0.25, 0.75), rng.uniform(0.6, 1))]
    while True:                                              # arbitrary, but not a sliver
        t = [(rng.gauss(0, 0.5), rng.gauss(0, 0.5)) for _ in range(3)]
        (a, b), (c, d) = sub(t[1], t[0]), sub(t[2], t[0])
        if abs(a * d - b * c) > 0.03 * max(math.dist(t[i], t[i - 1]) for i in range(3)) ** 2:
            return t


def direction(rng):
    v = [rng.gauss(0, 1) for _ in range(3)]
    return [c / math.hypot(*v) for c in v]


def place(rng, flat, size, shift):
    """Rotate at random, scale by size, move by shift sizes.  Returns triangle, unit normal."""
    n, t = direction(rng), direction(rng)
    e = cross(n, t)
    e = [c / math.hypot(*e) for c in e]
    origin = [size * shift * c for c in direction(rng)]
    return [comb((1, origin), (size * u, e), (size * v, cross(n, e))) for u, v in flat], n


def longest(tri): return max(math.dist(tri[i], tri[i - 1]) for i in range(3))
def centroid(tri): return comb(*((1 / 3, v) for v in tri))
def random_size(rng): return 10 ** rng.uniform(-6, 6)


def general_cases(rng):
    """Known values, and points at 0.2 to 2 sizes from the centroid of any kind of triangle."""
    unit = [(0, 0, 0), (0, 1, 0), (0, 0, 1)]
    for cls, x in (("touching", (0, 0, 0)), ("touching", (0, 1, 0)), ("coplanar", (0, -1, 0)),
                   ("regular", (1, 0, 0))):
        yield "known", cls, unit, x
    for kind, count in dict(well=30, arbitrary=30, right=7, equilateral=7, obtuse=7).items():
        for _ in range(count):
            tri, n = place(rng, flat_shape(rng, kind), random_size(rng), rng.uniform(0, 10))
            far, toward = rng.uniform(0.2, 2), direction(rng)
            if abs(dot(toward, n)) * far < 0.1:              # too close to the plane: lift
                toward = n
            yield f"general_{kind}", "regular", tri, comb((1, centroid(tri)),
                                                          (far * longest(tri), toward))


def dyadic_cases(rng):
    """Exactly on vertices, edges, their lines, and in the plane; sizes are powers of two."""
    for count, (plane, shape) in enumerate((p, s) for p in PLANES for s in FLAT):
        if count % 3 == 1 and plane != "x=y":                # thin out: 9 triangles remain
            continue
        scale = 2.0 ** rng.randint(-22, 20)
        flat = [(scale * u, scale * v) for u, v in FLAT[shape]][::rng.choice((1, -1))]
        tri = [PLANES[plane](u, v, 0.0) for u, v in flat]
        weights = [("centroid", None)] + [("inside", (i / 16, j / 16)) for i, j in ((2, 3), (9, 6))]
        weights += [("outside", (i / 16, j / 16)) for i, j in ((20, 9), (-3, 8), (-40, -9))]
        for k in range(3):
            cyc = lambda t: [(0, t), (1 - t, 0), (t, 1 - t)][k]   # weights of corners 1 and 2
            weights += [("vertex", cyc(0)), ("midpoint", cyc(0.5)), ("edge", cyc(0.125 + k / 4)),
                        ("line", cyc((-0.5, 1.25, 3)[(k + count) % 3]))]
        for kind, w in weights[:6] + weights[6 + count % 2::1 + count % 2]:
            pt = (comb((1, flat[0]), (w[0], sub(flat[1], flat[0])), (w[1], sub(flat[2], flat[0])))
                  if w else [(flat[0][c] + flat[1][c] + flat[2][c]) / 3 for c in (0, 1)])
            cls = "touching" if kind in ("vertex", "midpoint", "edge") else "coplanar"
            yield f"{kind}_{shape}_{plane}", cls, tri, PLANES[plane](*pt, 0.0)
    for k in range(12):
        tri, _ = place(rng, flat_shape(rng, "arbitrary"), random_size(rng), rng.uniform(0, 10))
        yield "vertex_oblique", "touching", tri, tri[k % 3]


def near_cases(rng):
    """Above interior, edge, vertex on either side; beside them in the plane; in any direction."""
    for h in STEPS:
        for side in (1, -1):
            tri = [PLANES["yz"](u, v, 0.0) for u, v in FLAT["obtuse"]]
            for spot, pt in dict(interior=(1, 0.5), edge=(2.5, 0), vertex=(0, 0)).items():
                yield f"above_{spot}_{side * h:+g}", "near", tri, PLANES["yz"](
                    *pt, side * h * longest(tri))
            tri, n = place(rng, flat_shape(rng, "arbitrary"), random_size(rng), rng.uniform(0, 0.5))
            spots = [("interior", centroid(tri)), ("edge", comb((.5, tri[0]), (.5, tri[1]))),
                     ("vertex", tri[2])]
            for spot, pt in spots:
                x = comb((1, pt), (side * h * longest(tri), n))
                yield f"above_{spot}_oblique_{side * h:+g}", "near", tri, x
            for spot, pt in spots[1:]:
                x = comb((1, pt), (h * longest(tri), direction(rng)))
                yield f"around_{spot}_oblique_{h:g}", "near", tri, x
        for plane, flat, scale in (("xy", [(0, 0), (6, 0), (1.5, 4.5)], 2.0 ** -20),
                                   ("zx", [(0, 0), (4, 0), (0, 4)], 2.0 ** 12)):
            flat = [(scale * u, scale * v) for u, v in flat]
            tri, delta = [PLANES[plane](u, v, 0.0) for u, v in flat], h * longest(flat)
            (a, b), c, d = flat[1], delta / 2, delta * math.sqrt(0.75)
            mid = [(flat[1][k] + flat[2][k]) / 2 for k in (0, 1)]
            for spot, u, v in (("edge_in", a / 4, delta), ("edge_out", a / 4, -delta),
                               ("vertex_in", d, c), ("vertex_out", -c, -d),
                               ("slant_in", mid[0] - c, mid[1] - c), ("slant_out", a, b - delta),
                               ("slant_past", mid[0] + c, mid[1] + c)):
                yield f"beside_{spot}_{plane}_{h:g}", "near", tri, PLANES[plane](u, v, 0.0)


def sliver_cases(rng):
    """height / longest edge = 1e-2, 1e-4, 1e-6; exact spots if axis aligned, else rounded ones."""
    for ratio in (1e-2, 1e-4, 1e-6):
        flat = [(0, 0), (1, 0), (0.3125, ratio)]
        tri = [PLANES["yz"](u, v, 0.0) for u, v in flat]
        for spot, pt in dict(vertex=(1, 0, 0), apex=(0.3125, ratio, 0), edge=(0.5, 0, 0),
                             inside=(0.375, ratio / 4, 0), line=(-0.5, 0, 0),
                             beside=(0.5, -ratio, 0), above=(0.375, ratio / 4, ratio),
                             low=(0.375, ratio / 4, -1e-9), high=(0.5, 0, 0.25)).items():
            yield f"sliver_{spot}_{ratio:g}", "sliver", tri, PLANES["yz"](*map(float, pt))
        for far in (0.001, 0.01, 0.1, 1, 10, 100):
            flat = [(0, 0), (1, 0), (rng.uniform(0, 1), ratio)]
            tri, n = place(rng, flat, random_size(rng), rng.uniform(0, 1))
            x = comb((1, centroid(tri)), (far * longest(tri), direction(rng) if far >= 1 else n))
            yield f"sliver_oblique_{ratio:g}_{far:g}", "sliver", tri, x


def far_cases(rng):
    for far in (2, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 300, 1e3, 1e4, 1e5):
        for kind in ("well", "arbitrary", "right", "obtuse"):
            tri, _ = place(rng, flat_shape(rng, kind), random_size(rng), rng.uniform(0, 10))
            x = comb((1, centroid(tri)), (far * longest(tri), direction(rng)))
            yield f"far_{kind}_{far:g}", "far" if far >= 4 else "regular", tri, x


def long_cases(rng):
    """height / longest edge = 1e-1 ... 1e-5 in any direction, x some heights off, or some lengths."""
    for ratio in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5):
        for apex in (ratio * ratio, 0.5 * rng.uniform(0.2, 1), 1 - 0.3 * ratio):
            tri, n = place(rng, [(0, 0), (1, 0), (apex, ratio)], random_size(rng), rng.uniform(0, 1))
            for far in (0.3 * ratio, 3 * ratio, 20 * ratio, 0.3):
                t = rng.uniform(-0.1, 1.1)
                on_edge = comb((1 - t, tri[0]), (t, tri[1]))
                x = comb((1, on_edge), (far * longest(tri), direction(rng)))
                yield f"long_{ratio:g}_{apex:.2g}_{far:g}", "sliver", tri, x


def all_cases(seed=1984):
    rng = random.Random(seed)
    for make in (general_cases, dyadic_cases, near_cases, sliver_cases, far_cases, long_cases):
        for name, cls, tri, x in make(rng):
            yield name, cls, [[float(c) for c in v] for v in tri], [float(c) for c in x]
