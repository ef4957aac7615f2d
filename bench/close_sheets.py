#!/usr/bin/env python3
"""Prints the table of close sheets of docs/accuracy.md: two unit squares, two coaxial unit discs.

    bench/close_sheets.py FMBEM [--csv FILE] [--gaps GAP,GAP…] [--halvings=N,N…]

FMBEM is the program. Each body is solved on several meshes, of which each has half the steps of
the one before. Meshes are graded to the rims: there charges vary over lengths of the gap.
"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parents[1] / "tests" / "data" / "coaxial_discs.csv"
FIELDS = ["body", "gap", "tolerance", "panels", "capacitance", "reference", "relative_difference",
          "edge_difference", "iterations", "refinements", "true_residual", "condition", "exit_code"]


def distances(gap, halvings, length):
    """Distances of lines from a rim: steps grow from a hundredth of the gap on, or 1e-6."""
    at, step = [0.0], max(0.01 * gap / 4**halvings, 1e-6)
    while at[-1] < length:
        at.append(at[-1] + step)
        step = min(step * 2 ** 0.5**halvings, 0.1 / 2**halvings)
    return [x * length / at[-1] for x in at]


def squares(gap, halvings):
    """Nodes and triangles of a unit square at z = 0."""
    half = distances(gap, halvings, 0.5)
    line = half + [1 - x for x in half[-2::-1]]
    n = len(line)
    nodes = [(x, y) for x in line for y in line]
    return nodes, [t for i in range(n - 1) for j in range(n - 1)
                   for a in [i * n + j] for t in ((a, a + n, a + n + 1), (a, a + n + 1, a + 1))]


def discs(gap, halvings):
    """A unit disc: rings of sectors, as large as the disc."""
    sectors = round(48 * 2**halvings)
    rim = distances(gap, halvings, 1)
    angle = 2 * math.pi / sectors
    scale = math.sqrt(angle / math.sin(angle))  # of a polygon to the area of the circle
    radii = [(1 - s) * scale for s in rim[-2::-1]]
    nodes = [(0, 0)] + [(r * math.cos(k * angle), r * math.sin(k * angle))
                        for r in radii for k in range(sectors)]
    triangles = [(0, 1 + k, 1 + (k + 1) % sectors) for k in range(sectors)]
    for ring in range(len(rim) - 2):
        for k in range(sectors):
            a, b = (1 + ring * sectors + i for i in (k, (k + 1) % sectors))
            triangles += [(a, a + sectors, b + sectors), (a, b + sectors, b)]
    return nodes, triangles


def write(path, gap, nodes, triangles):
    """Two of these sheets in Gmsh's format 2.2."""
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "2", '2 1 "lower"',
             '2 2 "upper"', "$EndPhysicalNames", "$Nodes", str(2 * len(nodes))]
    lines += [f"{k * len(nodes) + i} {x!r} {y!r} {k * gap!r}"
              for k in (0, 1) for i, (x, y) in enumerate(nodes, 1)]
    lines += ["$EndNodes", "$Elements", str(2 * len(triangles))]
    lines += [" ".join(map(str, [k * len(triangles) + i, 2, 2, k + 1, k + 1,
                                 *(k * len(nodes) + 1 + v for v in t)]))
              for k in (0, 1) for i, t in enumerate(triangles, 1)]
    path.write_text("\n".join(lines + ["$EndElements", ""]))


def square_series(gap):
    """C / 4πε₀ℓ up to terms of gap·ln² gap (docs/accuracy.md)."""
    shape = math.sqrt(2) - 1 - math.log(1 + math.sqrt(2))
    return (1 / gap + 2 / math.pi * (math.log(4 * math.pi / gap) + shape)) / (4 * math.pi)


def disc_series(gap):
    """Kirchhoff's formula with Shaw's next term, up to gap²·ln³ gap."""
    l = math.log(16 * math.pi / gap)
    return 1 / (4 * gap) + (l - 1) / (4 * math.pi) + gap * (l * l - 2) / (16 * math.pi**2)


BODIES = {"squares": (squares, square_series, 1 / (4 * math.pi)),
          "discs": (discs, disc_series, 1 / 4)}


def reference(body, gap):
    """C / 4πε₀ℓ: Love's equation for discs where there is a row of it, else the series."""
    if body == "discs":
        with DATA.open() as file:
            for row in csv.DictReader(file):
                if float(row["gap"]) == gap:
                    return float(row["capacitance_4pi_eps0_radius"])
    return BODIES[body][1](gap)


def tolerance(gap):
    """What products that are accurate to 1e-13 carry: conditions are some 10 over the gap."""
    return max(1e-8, 3e-13 / gap)


def solve(program, body, gap, halvings, folder):
    """A row of the table."""
    make, _, sheet = BODIES[body]
    mesh = pathlib.Path(folder) / "sheets.msh"
    write(mesh, gap, *make(gap, halvings))
    done = subprocess.run([program, "capacitance", mesh, "--tolerance", str(tolerance(gap)),
                           "--operator", "fmm", "--json", "-"], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{program} ended with exit code {done.returncode}: {done.stderr}")
    report = json.loads(done.stdout)
    solver, c = report["solver"], report["results"]["capacitance_4pi_eps0_length"]["value"]
    capacitance, exact = (c[0][0] - c[0][1]) / 2, reference(body, gap)
    return dict(zip(FIELDS, (
        body, gap, tolerance(gap), report["mesh"]["panels"], capacitance, exact,
        capacitance / exact - 1, (capacitance - exact) / (exact - sheet / gap),
        max(solver["iterations"]), max(map(len, solver["refinements"])),
        max(solver["true_residuals"]), max(solver["conditions"]), done.returncode)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fmbem", metavar="FMBEM")
    parser.add_argument("--csv", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--gaps", default="1e-1,1e-2,1e-3,1e-4,1e-5,1e-6,1e-7", metavar="GAP,GAP…")
    parser.add_argument("--halvings", default="-1,0", metavar="N,N…", help="with =, as in --halvings=-3,-2")
    options = parser.parse_args()
    rows = []
    print("| body | gap | tolerance | panels | C / 4πε₀ℓ | reference | difference "
          "| of the edge's part | iterations | steps | residual | condition |\n"
          + "|---" * 12 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for body in BODIES:
            for gap in map(float, options.gaps.split(",")):
                for halvings in map(int, options.halvings.split(",")):
                    row = solve(options.fmbem, body, gap, halvings, folder)
                    rows.append(row)
                    print("| {body} | {gap:g} | {tolerance:g} | {panels} | {capacitance:.10g} "
                          "| {reference:.10g} | {relative_difference:.1e} | {edge_difference:.1e} "
                          "| {iterations} | {refinements} | {true_residual:.1e} | {condition:.1e} "
                          "|".format(**row), flush=True)
                    if row["exit_code"]:
                        print(f"exit code {row['exit_code']}", file=sys.stderr)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
