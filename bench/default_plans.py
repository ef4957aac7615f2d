"""Default plans against the best by hand:
default_plans.py FILE.csv [--backend cpu|cuda] [--points N] [--tolerances E,...] [--jobs J].

For each cloud, tolerance and kind of results: the plan that is chosen by default, and the one with another leaf size,
the lowest order whose error is below the tolerance, and single precision if that keeps it, that takes the least time.
On the CPU with one thread. FMBEM_BENCH names the program fmbem-bench-fmm, or PATH has it. Errors, and times on a CPU
that nobody else uses, can be measured side by side; times on a GPU are one after the other.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import subprocess

from nbody_runs import write_rows

PROGRAM = os.environ.get("FMBEM_BENCH", "fmbem-bench-fmm")
CLOUDS = ("cube", "sphere", "ellipsoid", "plummer", "lattice")
LEAVES = (0.5, 0.7, 1, 1.4, 2)
MOST_DROPPED = 4  # orders


def runs(words):
    """The rows of a run's report."""
    ran = subprocess.run([PROGRAM, *map(str, words), "--json", "-"], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: {ran.stderr}")
    return json.loads(ran.stdout)


def error_of(row):
    return max(row["error_potential"] or 0, row["error_gradient"] or 0)


def seconds_of(words, repeats):
    """Seconds of each leaf size, the lower of two runs' medians."""
    pair = [runs([*words, "--check", 0, "--repeat", repeats]) for _ in range(2)]
    return [(min(a["seconds"]["evaluate"], b["seconds"]["evaluate"]), a["max_leaf"]) for a, b in zip(*pair)]


class Case:
    def __init__(self, given, cloud, tolerance, outputs):
        self.tolerance, self.repeats, self.check = float(tolerance), given.repeats, given.check
        self.words = ["--backend", given.backend, "--points", given.points, "--distribution", cloud,
                      "--tolerance", tolerance, "--outputs", outputs]
        if given.backend == "cpu":
            self.words += ["--threads", 1]

    def lowest(self, precision, order):
        """The lowest order that keeps the tolerance in that precision, if there is one."""
        best = None
        for lower in range(order, max(0, order - 1 - MOST_DROPPED), -1):
            words = [*self.words, "--precision", precision, "--order", lower]
            found = runs([*words, "--check", self.check, "--repeat", 1])[0]
            if error_of(found) > self.tolerance:
                break
            best = words, found
        return best

    def find_orders(self):
        """The default plan, and the lowest orders that keep the tolerance."""
        self.default = runs([*self.words, "--check", self.check, "--repeat", 1])[0]
        order, precision = self.default["order"], self.default["precision"]
        tried = [self.lowest(precision, order)]
        if precision == "double" and self.tolerance >= 1e-6:
            tried.append(self.lowest("single", order + 1))
        self.by_hand = [best for best in tried if best]

    def find_times(self):
        self.default_seconds = seconds_of(self.words, self.repeats)[0][0]
        self.best_seconds = self.default_seconds
        self.best, self.best_leaf = self.default, self.default["max_leaf"]
        for words, found in self.by_hand:
            leaves = sorted({max(1, round(f * found["max_leaf"])) for f in LEAVES})
            seconds, leaf = min(seconds_of([*words, "--max-leaf", ",".join(map(str, leaves))], self.repeats))
            if seconds < self.best_seconds:
                self.best_seconds, self.best, self.best_leaf = seconds, found, leaf

    def row(self, given):
        d, b = self.default, self.best
        return {
            "cloud": d["distribution"], "points": d["points"], "backend": given.backend,
            "tolerance": f"{self.tolerance:g}", "results": d["outputs"], "precision": d["precision"],
            "order": d["order"], "leaf": d["max_leaf"], "error": f"{error_of(d):.2e}",
            "plan_ms": f"{1e3 * d['seconds']['plan']:.4g}", "evaluate_ms": f"{1e3 * self.default_seconds:.4g}",
            "best_precision": b["precision"], "best_order": b["order"], "best_leaf": self.best_leaf,
            "best_error": f"{error_of(b):.2e}", "best_ms": f"{1e3 * self.best_seconds:.4g}",
            "ratio": f"{self.default_seconds / self.best_seconds:.2f}",
            "command": "fmbem-bench-fmm " + " ".join(map(str, self.words)), "machine": given.machine,
            "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(), "commit": given.commit}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--tolerances", default="5e-4,2e-6,1e-7,1e-12")
    parser.add_argument("--clouds", default=",".join(CLOUDS))
    parser.add_argument("--repeats", type=int, default=5, help="evaluations of which the median counts")
    parser.add_argument("--check", type=int, default=1000, help="targets of errors")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    parser.add_argument("--machine", default="")
    parser.add_argument("--commit", default="")
    asked = parser.parse_args()
    cases = [Case(asked, cloud, tolerance, outputs) for tolerance in asked.tolerances.split(",")
             for outputs in ("potential", "both") for cloud in asked.clouds.split(",")]
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(Case.find_orders, cases))
    with concurrent.futures.ThreadPoolExecutor(asked.jobs if asked.backend == "cpu" else 1) as pool:
        timed = pool.map(lambda case: case.find_times() or case, cases)
        write_rows(asked.file, (case.row(asked) for case in timed))
