#!/usr/bin/env python3
"""Solvation energies by finite differences (APBS) and by fmbem, of the same atoms in the same medium.

    bench/apbs.py FMBEM MOLECULE.pqr SURFACE… --grids 65,97,129 [--csv FILE]

APBS (Debian's package apbs) solves on grids of so many points an axis, over the molecule and 6 angstrom
around it, with boundary values from a coarser grid of 1.7 times that; its surface is the solvent excluded
one of the file's radii and a probe of 1.4 angstrom, without smoothing. Its energy is that in the solvent
less that in the medium inside, and it is extrapolated to spacing 0 from the two finest grids, by the spacing
and by its square, between which its errors are. fmbem solves on the surfaces, the coarsest first, which
examples/molecular_surface.py makes of the same radii and probe, and extrapolates in the number of panels. There
are no ions, as both programs keep them from different places.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

CALCULATION = """elec name {name}
  mg-auto
  dime {n} {n} {n}
  cglen {coarse}
  fglen {fine}
  cgcent mol 1
  fgcent mol 1
  mol 1
  lpbe
  bcfl mdh
  pdie {inside}
  sdie {outside}
  srfm mol
  chgm spl2
  sdens 20.0
  srad 1.4
  swin 0.3
  temp 298.15
  calcenergy total
  calcforce no
end
"""
MARGIN = 6.0
KILOJOULES = 4.184


def atoms_of(pqr):
    """x y z charge radius"""
    return [line.split()[-5:] for line in pathlib.Path(pqr).read_text().splitlines()
            if line.startswith(("ATOM", "HETATM"))]


def by_apbs(pqr, points, inside, outside):
    """Largest spacing in angstrom, and energy in kcal/mol."""
    atoms = atoms_of(pqr)
    fine = [max(axis) - min(axis) + 2 * MARGIN for axis in zip(*(map(float, atom[:3]) for atom in atoms))]
    lengths = {"fine": " ".join(f"{x:.3f}" for x in fine), "coarse": " ".join(f"{1.7 * x:.3f}" for x in fine)}
    text = "read\n  mol pqr molecule.pqr\nend\n"
    for name, solvent in (("solvent", outside), ("reference", inside)):
        text += CALCULATION.format(name=name, n=points, inside=inside, outside=solvent, **lengths)
    text += "print elecEnergy solvent - reference end\nquit\n"
    with tempfile.TemporaryDirectory() as folder:
        # With names that APBS reads.
        (pathlib.Path(folder) / "molecule.pqr").write_text(
            "".join(f"ATOM {k + 1} X MOL 1 {' '.join(atom)}\n" for k, atom in enumerate(atoms)))
        (pathlib.Path(folder) / "in").write_text(text)
        out = subprocess.run(["apbs", "in"], cwd=folder, check=True, capture_output=True, text=True).stdout
    [line] = [line for line in out.splitlines() if "Global net ELEC energy" in line]
    return max(fine) / (points - 1), float(line.split("=")[1].split()[0]) / KILOJOULES


def by_fmbem(fmbem, pqr, surface, inside, outside):
    """Panels and energy in kcal/mol."""
    done = subprocess.run([fmbem, "solvate", pqr, "--surface", surface, "--permittivity-inside", str(inside),
                           "--permittivity-outside", str(outside), "--tolerance", "1e-4", "--json", "-"],
                          check=True, capture_output=True, text=True)
    report = json.loads(done.stdout)
    return report["mesh"]["panels"], report["results"]["solvation_energy_kcal_per_mol"]["value"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fmbem")
    parser.add_argument("molecule")
    parser.add_argument("surfaces", nargs="+")
    parser.add_argument("--grids", default="65,97,129", help="points an axis, 32 k + 1")
    parser.add_argument("--inside", type=float, default=2)
    parser.add_argument("--outside", type=float, default=78.54)
    parser.add_argument("--csv")
    options = parser.parse_args()

    rows = []
    for points in map(int, options.grids.split(",")):
        spacing, energy = by_apbs(options.molecule, points, options.inside, options.outside)
        rows.append(("APBS", f"spacing {spacing:.3f}", spacing, energy))
        print(*rows[-1], flush=True)
    if len(rows) > 1:
        (*_, coarse, above), (*_, fine, below) = rows[-2:]
        for order in (1, 2):
            limit = below + (below - above) / ((coarse / fine) ** order - 1)
            rows.append(("APBS", f"extrapolated, order {order}", 0, limit))
            print(*rows[-1], flush=True)
    for surface in options.surfaces:
        panels, energy = by_fmbem(options.fmbem, options.molecule, surface, options.inside, options.outside)
        rows.append(("fmbem", f"{panels} panels", panels, energy))
        print(*rows[-1], flush=True)
    if len(options.surfaces) > 1:
        (*_, few, above), (*_, many, below) = rows[-2:]
        rows.append(("fmbem", "extrapolated", 0, below + (below - above) / (many / few - 1)))
        print(*rows[-1], flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["program", "level", "spacing [angstrom] or panels", "solvation energy [kcal/mol]"])
            table.writerows(rows)


if __name__ == "__main__":
    main()
