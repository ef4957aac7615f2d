#!/usr/bin/env python3
"""Default plans against the best by hand:
default_plans.py FILE.csv [--backend cpu|cuda] [--points N] [--tolerances E,...] [--orders-only] [--jobs J].

For each cloud, tolerance and kind of results: the plan that is chosen by default, and the fastest of those with lower
orders, and with the lowest of these and other leaf sizes, whose errors are below the tolerance. On the CPU with one
thread. Times are medians of wall time, for a machine that nobody else uses; on the CPU several runs can go side by
side. FMBEM_BENCH names the program fmbem-bench-fmm, or PATH has it.
"""

import argparse
import concurrent.futures
import datetime
import json
import math
import os
import pathlib
import subprocess

from nbody_runs import write_rows

PROGRAM = os.environ.get("FMBEM_BENCH", "fmbem-bench-fmm")
CLOUDS = ("cube", "sphere", "ellipsoid", "plummer", "lattice")
LEAVES = (0.5, 0.7, 1.4, 2)


def runs(words):
    """The rows of a run's report."""
    ran = subprocess.run([PROGRAM, *map(str, words), "--json", "-"], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: {ran.stderr}")
    return json.loads(ran.stdout)


def error_of(row):
    """The largest error of what was asked for; infinite where one is no number, which a report has as null."""
    asked = ("potential", "gradient") if row["outputs"] == "both" else (row["outputs"],)
    errors = [row[f"error_{output}"] for output in asked]
    return math.inf if None in errors else max(errors)


def time_of(row):
    return row["seconds"]["evaluate"]


def compare(given, tolerance, outputs):
    """Rows of all clouds."""
    words = ["--backend", given.backend, "--points", given.points, "--tolerance", tolerance, "--outputs", outputs,
             "--repeat", given.repeats]
    if given.backend == "cpu":
        words += ["--threads", 1]
    clouds = given.clouds.split(",")

    def of_clouds(some, *more):
        return {row["distribution"]: row for row in runs([*words, "--distribution", ",".join(some), *more])}

    def keeps_tolerance(row):
        return error_of(row) <= float(tolerance)

    default = of_clouds(clouds, "--check", given.check)
    kept = {cloud: [row] for cloud, row in default.items()}  # plans that keep the tolerance
    going = set(clouds)
    for order in range(max(row["order"] for row in default.values()) - 1, 0, -1):
        some = [cloud for cloud in clouds if cloud in going and order < default[cloud]["order"]]
        found = of_clouds(some, "--check", given.check, "--order", order) if some else {}
        for cloud, row in found.items():
            if keeps_tolerance(row):
                kept[cloud].append(row)
            else:
                going.remove(cloud)
        if not going:
            break
    for cloud, rows in kept.items():
        lowest, best = rows[-1], min(rows, key=time_of)
        if not given.orders_only:
            leaves = ",".join(str(max(1, round(f * lowest["max_leaf"]))) for f in LEAVES)
            others = runs([*words, "--distribution", cloud, "--check", given.check, "--order", lowest["order"],
                           "--max-leaf", leaves])
            best = min([best, *filter(keeps_tolerance, others)], key=time_of)
        yield {
            "cloud": cloud, "points": given.points, "backend": given.backend, "tolerance": tolerance,
            "results": outputs, "precision": rows[0]["precision"], "order": rows[0]["order"],
            "leaf": rows[0]["max_leaf"],
            "error": f"{error_of(rows[0]):.2e}", "plan_ms": f"{1e3 * rows[0]['seconds']['plan']:.4g}",
            "evaluate_ms": f"{1e3 * time_of(rows[0]):.4g}", "lowest_order": lowest["order"],
            "lowest_error": f"{error_of(lowest):.2e}", "best_order": best["order"], "best_leaf": best["max_leaf"],
            "best_ms": f"{1e3 * time_of(best):.4g}", "ratio": f"{time_of(rows[0]) / time_of(best):.2f}",
            "command": "fmbem-bench-fmm " + " ".join(map(str, words)), "machine": given.machine,
            "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(), "commit": given.commit}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--tolerances", default="5e-4,2e-6,1e-7,1e-12")
    parser.add_argument("--clouds", default=",".join(CLOUDS))
    parser.add_argument("--orders-only", action="store_true", help="other leaf sizes are not tried")
    parser.add_argument("--repeats", type=int, default=5, help="evaluations of which the median counts")
    parser.add_argument("--check", type=int, default=1000, help="targets of errors")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    parser.add_argument("--machine", default="")
    parser.add_argument("--commit", default="")
    asked = parser.parse_args()
    cases = [(tolerance, outputs) for tolerance in asked.tolerances.split(",") for outputs in ("potential", "both")]
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        done = pool.map(lambda case: list(compare(asked, *case)), cases)
        write_rows(asked.file, (row for rows in done for row in rows))
