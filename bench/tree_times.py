#!/usr/bin/env python3
"""Times of data structures over depths and numbers of points, by both constructions: tree_times.py FILE.csv [--plans K]
[--commit HASH]. Writes a table: processor time of one thread from points to the lists, by the
difference of runs with many plans and with one, so that a machine that others share serves as well.

FMBEM_BENCH_FMM names the program fmbem-bench-fmm, or PATH has it.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess

import nbody_runs

PROGRAM = os.environ.get("FMBEM_BENCH_FMM", "fmbem-bench-fmm")
ROUNDS = 3
LEAVES = {"cube": (2300, 340, 66, 19, 7, 4), "sphere": (12000, 3000, 750, 190, 52, 24)}  # depths 3 to 8


def report_of(words):
    """What a run of one problem says of it, and its processor seconds."""
    process = subprocess.Popen([PROGRAM, *map(str, words), "--json", "-"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    row, = json.loads(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return row, usage.ru_utime + usage.ru_stime


def rows_of(cloud, points, leaf, plans, commit):
    """A row of each construction. Runs take turns, and the least of several counts, as what others do on the machine
    adds to the time of the processor, too."""
    words = {construction: f"--points {points} --distribution {cloud} --method treecode --max-leaf {leaf} "
                           f"--inflation 1 --construction {construction} --repeat 0 --check 0 --tolerance 1e-3 "
                           "--threads 1".split() for construction in ("sort", "histogram")}
    least = {(construction, count): math.inf for construction in words for count in (1, 1 + plans)}
    for _ in range(ROUNDS):
        for construction, count in least:
            row, seconds = report_of([*words[construction], "--plans", count])
            least[construction, count] = min(least[construction, count], seconds)
    for construction, own in words.items():
        seconds = (least[construction, 1 + plans] - least[construction, 1]) / plans
        yield {"distribution": cloud, "points": points, "max_leaf": leaf, "construction": construction,
               "levels": row["levels"], "boxes": row["boxes"], "processor_ms": round(1e3 * seconds, 1)} | nbody_runs.measured(["fmbem-bench-fmm", *own, "--plans", 1 + plans], commit)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--plans", type=int, default=5)
    parser.add_argument("--commit", default="")
    given = parser.parse_args()
    cases = [(cloud, 2**20, leaf) for cloud, leaves in LEAVES.items() for leaf in leaves]
    cases += [("cube", 2**k, 66) for k in (17, 18, 19, 21, 22)]
    nbody_runs.write_rows(given.file, (row for case in cases for row in rows_of(*case, given.plans, given.commit)))
