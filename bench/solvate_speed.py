#!/usr/bin/env python3
"""Seconds from panels to energies of fmbem solvate, by phases, on a round molecule with bumps.

    bench/solvate_speed.py build/cuda/cli/fmbem [--panels 373248,2097152] [--backends cuda]
        [--formulations direct,lu] [--tolerance 1e-4] [--csv FILE]

The surface is an octahedron whose faces are split into f² triangles each and pushed to a radius of about
50 Å; 1000 charges of a fixed seed are inside of it. Reading of files is not counted."""

import argparse
import csv
import json
import math
import pathlib
import random
import subprocess
import tempfile

COLUMNS = ["panels", "backend", "formulation", "tolerance", "order", "near_entries", "iterations", "energy_kcal_per_mol",
           "regions_s", "assembly_s", "preconditioner_s", "product_s", "solve_s", "energies_s", "sum_s"]


def radius(x, y, z):
    """Of the surface, in a direction."""
    return 50 * (1 + 0.06 * math.sin(9 * x + 1) * math.cos(8 * y) + 0.05 * math.sin(11 * z) * math.cos(7 * x + 2))


def write_surface(path, f):
    """With 8 f² panels, as .off."""
    corners = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1)]
    faces = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    number, points, triangles = {}, [], []
    for a, b, c in faces:
        rows = []
        for i in range(f + 1):
            row = []
            for j in range(f + 1 - i):
                key = tuple((f - i - j) * u + i * v + j * w
                            for u, v, w in zip(corners[a], corners[b], corners[c]))
                if key not in number:
                    number[key] = len(points)
                    size = math.hypot(*key)
                    x, y, z = (u / size for u in key)
                    r = radius(x, y, z)
                    points.append("%.12g %.12g %.12g" % (r * x, r * y, r * z))
                row.append(number[key])
            rows.append(row)
        for i in range(f):
            for j in range(f - i):
                triangles.append("3 %d %d %d" % (rows[i][j], rows[i + 1][j], rows[i][j + 1]))
                if i + j + 1 < f:
                    triangles.append("3 %d %d %d" % (rows[i + 1][j], rows[i + 1][j + 1], rows[i][j + 1]))
    path.write_text("\n".join(["OFF", f"{len(points)} {len(triangles)} 0", *points, *triangles]) + "\n")


def write_molecule(path, charges=1000):
    """Of that many charges up to 38 Å from the middle."""
    choose = random.Random(1)
    lines = []
    for k in range(charges):
        place = [choose.gauss(0, 1) for _ in range(3)]
        scale = 38 * choose.random() ** (1 / 3) / math.hypot(*place)
        lines.append("ATOM %d C ION A %d %.4f %.4f %.4f %.5f 1.5" %
                     (k + 1, k // 10 + 1, *(scale * x for x in place), choose.uniform(-1, 1)))
    path.write_text("\n".join(lines) + "\n")


def run(program, folder, options):
    report_file = folder / "report.json"
    done = subprocess.run([program, "solvate", folder / "molecule.pqr", "--surface", folder / "surface.off",
                           "--kappa", "0.1", *options, "--json", report_file],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(report_file.read_text())


def row_of(report, backend, formulation, tolerance):
    times, operator = report["timings_s"], report["operators"][0]
    stages, setup = times["stages"], times["setup"]
    seconds = {
        "regions": setup - stages["assembly"] - stages["preconditioner"],  # and right-hand sides
        "assembly": stages["assembly"], "preconditioner": stages["preconditioner"],
        "product": times["product_median"], "solve": times["solve"], "energies": stages["field"],
        "sum": setup + times["solve"] + stages["field"],
    }
    return {
        "panels": report["mesh"]["panels"], "backend": backend, "formulation": formulation, "tolerance": tolerance,
        "order": operator["order"], "near_entries": operator["near_entries"],
        "iterations": report["solver"]["iterations"][0],
        "energy_kcal_per_mol": report["results"]["solvation_energy_kcal_per_mol"]["value"],
        **{name + "_s": float(f"{value:.4g}") for name, value in seconds.items()},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--panels", default="373248,2097152")
    parser.add_argument("--backends", default="cuda")
    parser.add_argument("--formulations", default="direct,lu")
    parser.add_argument("--tolerance", default="1e-4")
    parser.add_argument("--csv")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_molecule(folder / "molecule.pqr")
        for panels in given.panels.split(","):
            write_surface(folder / "surface.off", round(math.sqrt(float(panels) / 8)))
            for backend in given.backends.split(","):
                for formulation in given.formulations.split(","):
                    report = run(given.program, folder, ["--backend", backend, "--formulation", formulation,
                                                         "--tolerance", given.tolerance])
                    rows.append(row_of(report, backend, formulation, given.tolerance))
                    print(" | ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    if given.csv:
        with open(given.csv, "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
