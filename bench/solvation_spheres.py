#!/usr/bin/env python3
"""Solvation energies of spheres from refined octahedra against Kirkwood's series.

    bench/solvation_spheres.py build/release/cli/fmbem [--levels 3,4,5] [--formulation direct]
        [--tolerance 1e-7] [--backend cpu] [--cases WORD] [--kappa 1,10] [--csv FILE]

A mesh and the one before give a limit by order 2: with each level errors fall to a quarter. Prints a table and, with
--csv, writes a row for each mesh. --cases keeps those whose names have WORD in them; --kappa takes, instead of
them, Born's ion with these."""

import argparse
import csv
import json
import math
import pathlib
import subprocess
import tempfile

CONSTANT = 332.06368  # kcal Å/(mol e²), that of the reference values
CASES = [  # name, radius, charge, permittivities, kappa
    ("Born ion", 3, (0, 0, 0), 1, 78.54, 0),
    ("Kirkwood, (1, 1, 1)", 4, (1, 1, 1), 4, 80, 0.125),
    ("Kirkwood, 0.5 below the surface", 4, (0, 0, 3.5), 4, 80, 0.125),
    ("Kirkwood, (1, 1, √2)", 4, (1, 1, math.sqrt(2)), 4, 80, 0.125),
    ("Kirkwood, R = 5, (0.1, 0, 0)", 5, (0.1, 0, 0), 4, 80, 0.125),
    ("centred, R = 4", 4, (0, 0, 0), 4, 80, 0.125),
    ("centred, R = 4, κ = 0", 4, (0, 0, 0), 4, 80, 0),
]


def octahedron(level, radius):
    """Vertices and faces of an octahedron whose faces are split into four, and pushed to a sphere."""
    points = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1)]
    faces = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    for _ in range(level):
        middles = {}

        def middle(a, b):
            edge = (min(a, b), max(a, b))
            if edge not in middles:
                x = [(u + v) / 2 for u, v in zip(points[a], points[b])]
                middles[edge] = len(points)
                points.append(tuple(u / math.hypot(*x) for u in x))
            return middles[edge]

        faces = [face for a, b, c in faces
                 for ab, bc, ca in [(middle(a, b), middle(b, c), middle(c, a))]
                 for face in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
    return [tuple(radius * u for u in x) for x in points], faces


def write_off(path, points, faces):
    lines = ["OFF", f"{len(points)} {len(faces)} 0"]
    lines += [" ".join(map(repr, map(float, x))) for x in points]
    lines += ["3 " + " ".join(map(str, face)) for face in faces]
    path.write_text("\n".join(lines) + "\n")


def kirkwood(radius, charge, inside, outside, kappa):
    """The series in Legendre's polynomials, from φ and ε∂φ/∂r on both sides; kcal/mol."""
    x, ratio, total, t = kappa * radius, (math.hypot(*charge) / radius) ** 2, 0, kappa * radius
    for n in range(2000):
        g = -outside / inside * (n + 1 + t)
        total += (n + 1 + g) / (n - g) * ratio ** n
        t = x * x / (t + 2 * n + 1)  # x k_{n-1}/k_n
    return CONSTANT / (2 * inside * radius) * total


def levels(text):
    """Numbers of splits, each more than the one before."""
    numbers = [int(word) for word in text.split(",")]
    if numbers != sorted(set(numbers)) or numbers[0] < 0:
        raise argparse.ArgumentTypeError(f"takes whole numbers from 0 on in ascending order, not {text}")
    return numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--levels", type=levels, default="3,4,5")
    parser.add_argument("--formulation", default="direct")
    parser.add_argument("--tolerance", default="1e-7")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--cases", default="")
    parser.add_argument("--kappa", type=lambda text: [float(word) for word in text.split(",")])
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    if options.kappa:
        cases = [(f"Born ion, κ = {kappa:g}", 3, (0, 0, 0), 1, 78.54, kappa) for kappa in options.kappa]
    else:
        cases = [case for case in CASES if options.cases in case[0]]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        ion, mesh = pathlib.Path(folder, "ion.pqr"), pathlib.Path(folder, "sphere.off")
        for name, radius, charge, inside, outside, kappa in cases:
            exact = kirkwood(radius, charge, inside, outside, kappa)
            ion.write_text("ATOM 1 NA ION 1 " + " ".join(map(str, charge)) + " 1 1\n")
            before = None
            for level in options.levels:
                write_off(mesh, *octahedron(level, radius))
                done = subprocess.run(
                    [options.program.resolve(), "solvate", ion, "--surface", mesh, "--json", "-",
                     "--formulation", options.formulation,
                     "--tolerance", options.tolerance, "--backend", options.backend,
                     "--kappa", str(kappa), "--energy-constant", str(CONSTANT),
                     "--permittivity-inside", str(inside), "--permittivity-outside", str(outside)],
                    capture_output=True, text=True, check=True)
                report = json.loads(done.stdout)
                energy = report["results"]["solvation_energy_kcal_per_mol"]["value"]
                panels = report["mesh"]["panels"]
                limit = math.nan
                if before:
                    limit = energy + (energy - before[1]) / (4 ** (level - before[0]) - 1)
                rows.append([name, panels, energy, energy / exact - 1, limit, limit / exact - 1,
                             report["solver"]["iterations"][0],
                             round(report["timings_s"]["total"], 2)])
                before = level, energy
                print("| {} | {} | {:.8f} | {:.2e} | {:.8f} | {:.2e} | {} | {} s |".format(*rows[-1]),
                      flush=True)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [["case", "panels", "energy_kcal_per_mol", "error", "extrapolated_kcal_per_mol",
                  "error_of_that", "iterations", "seconds"], *rows])


if __name__ == "__main__":
    main()
