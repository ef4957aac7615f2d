#!/usr/bin/env python3
"""Unequal clouds against the cube: unequal_clouds.py FILE.csv [--points N] [--tolerances E,...].

Processor seconds of an evaluation, its pairs and rows of M2L for clouds that a plan with the method automatic sums, and
the ratio to the cube's (nbody_runs.py).
"""

import argparse
import pathlib

from nbody_runs import nbody, provenance, seconds_of, write_rows

CLOUDS = ("cube", "centres", "filament", "cluster", "scales")


def rows_of(tolerance, points, busy):
    cube_seconds = None
    for cloud in CLOUDS:
        words = ["--points", str(points), "--distribution", cloud, "--tolerance", tolerance, "--potential-only"]
        result, _ = nbody(words)
        seconds = seconds_of(words, busy)
        cube_seconds = cube_seconds or seconds
        kept = ("points", "method", "order", "leaf", "levels", "near_pairs", "m2l_rows")
        yield {"cloud": cloud, "tolerance": tolerance} | {key: result[key] for key in kept} | {
            "processor_s": f"{seconds:.4f}", "to_cube": f"{seconds / cube_seconds:.2f}",
            "error": f"{result['potential_error']:.2e}"} | provenance(words, result)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--tolerances", default="5e-4,2e-6")
    parser.add_argument("--busy", type=float, default=2, help="seconds of each measurement")
    given = parser.parse_args()
    write_rows(given.file, (row for tolerance in given.tolerances.split(",")
                            for row in rows_of(tolerance, given.points, given.busy)))
