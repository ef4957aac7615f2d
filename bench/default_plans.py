"""Default plans against the best by hand: default_plans.py FILE.csv [--points N] [--tolerances E,...].

For each cloud, tolerance and kind of results: the plan that fmbem nbody chooses, and the one that a scan finds: the
lowest order whose error is below the tolerance, with the leaf size that then takes the least processor time
(nbody_runs.py).
"""

import argparse
import pathlib

from nbody_runs import nbody, provenance, seconds_of, write_rows

CLOUDS = ("cube", "sphere", "ellipsoid", "plummer", "lattice")
LEAVES = (0.5, 0.7, 1, 1.4, 2)


def error_of(result):
    return max(result["potential_error"], result["force_error"] or 0)


def best_order(words, default, tolerance):
    """The lowest order that keeps the tolerance, and what it found."""
    best = default
    for order in range(default["order"] - 1, 0, -1):
        found, _ = nbody([*words, "--order", str(order)])
        if error_of(found) > tolerance:
            return best
        best = found
    return best


def compare(cloud, tolerance, potential_only, points, busy):
    words = ["--points", str(points), "--distribution", cloud, "--method", "fmm", "--tolerance", tolerance]
    words += ["--potential-only"] * potential_only
    default, _ = nbody(words)
    by_hand = best_order(words, default, float(tolerance))
    default_seconds = seconds_of(words, busy)
    order = ["--order", str(by_hand["order"])]
    tried = [(seconds_of([*words, *order, "--leaf", str(max(1, round(f * by_hand["leaf"])))], busy),
              max(1, round(f * by_hand["leaf"]))) for f in LEAVES]
    best_seconds, leaf = min(tried)
    return {
        "cloud": cloud, "points": points, "tolerance": tolerance,
        "results": "potential" if potential_only else "potential and gradient",
        "order": default["order"], "leaf": default["leaf"], "error": f"{error_of(default):.2e}",
        "processor_s": f"{default_seconds:.4f}", "best_order": by_hand["order"], "best_leaf": leaf,
        "best_error": f"{error_of(by_hand):.2e}", "best_processor_s": f"{best_seconds:.4f}",
        "ratio": f"{default_seconds / best_seconds:.2f}"} | provenance(words, default)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--tolerances", default="2e-6,1e-7,1e-12")
    parser.add_argument("--clouds", default=",".join(CLOUDS))
    parser.add_argument("--busy", type=float, default=1, help="seconds of each measurement")
    given = parser.parse_args()
    write_rows(given.file, (compare(cloud, tolerance, potential_only, given.points, given.busy)
                            for tolerance in given.tolerances.split(",") for potential_only in (True, False)
                            for cloud in given.clouds.split(",")))
