#!/usr/bin/env python3
"""Tables and figures of docs/papers.md: papers.py FOLDER [--most N] [--repeats K] [--tables NAME…]
[--reports FILE…].

Runs the program fmbem, which FMBEM_PROGRAM names or PATH has, and writes papers_methods.csv (time of
each method over the number of points), papers_theta.csv (θ against error, with the bound),
papers_leaves.csv (FMM and hybrid over the leaf size that is asked for) and a picture of each (.svg). The
table gpu makes papers_methods_gpu.csv and its picture of reports of fmbem-bench-fmm (its option --json).
"""

import argparse
import json
import pathlib

import matplotlib
import nbody_runs

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

COLOURS = {"direct": "#D55E00", "treecode": "#009E73", "fmm": "#0072B2", "hybrid": "#CC79A7"}
pyplot.rcParams.update({"font.size": 9, "axes.grid": True, "grid.color": "#dddddd", "svg.hashsalt": "fmbem",
                        "svg.fonttype": "none", "legend.frameon": False, "figure.constrained_layout.use": True})


def nbody(*words):
    report, _ = nbody_runs.report_of(words)
    return report | nbody_runs.provenance([str(word) for word in words], report)


def row_of(result, **more):
    kept = ("points", "method", "order", "theta", "leaf", "precision", "near_pairs", "m2p_pairs", "m2l_rows", "plan_s",
            "evaluate_s", "potential_error", "force_error")
    return {key: result[key] for key in kept} | more | {
        "P2P_gflops": round(result["gflops"].get("P2P", 0), 2), "M2P_gflops": round(result["gflops"].get("M2P", 0), 2),
        "M2L_gflops": round(result["gflops"].get("M2L", 0), 2), "command": result["command"], "date": result["date"],
        "commit": result["commit"]}


def methods(folder, most, most_direct=300_000):
    """Time over N at a force error of 1e-4 (Yokota and Barba, figure 5), of the processor, with one thread: so other
    programs may run beside it."""
    def rows():
        n = 1000
        while n <= most:
            for method in ("direct", "treecode", "fmm", "automatic"):
                if method == "direct" and n > most_direct:
                    continue
                words = ("--points", n, "--method", method, "--tolerance", "1e-4")
                row = row_of(nbody(*words, "--repeats", 1, "--threads", 1), asked=method)
                yield row | {"evaluate_s": nbody_runs.seconds_of(words, busy=3)}
            n = round(n * (3 if str(n)[0] == "1" else 10 / 3))
    draw_methods(folder, nbody_runs.write_rows(folder / "papers_methods.csv", rows()))


def draw_methods(folder, rows):
    figure, axes = pyplot.subplots(figsize=(4.6, 3.4))
    draw_seconds(axes, rows)
    figure.savefig(folder / "papers_methods.svg", metadata={"Date": None})


def draw_seconds(axes, rows):
    for asked, colour, line in (*((method, colour, "o-") for method, colour in COLOURS.items()), ("automatic", "k", "+")):
        own = [(float(row["points"]), float(row["evaluate_s"])) for row in rows if row["asked"] == asked]
        if own:
            axes.loglog(*zip(*own), line, color=colour, label=asked)
    axes.set(xlabel="points", ylabel="seconds of an evaluation")
    axes.legend()


def methods_gpu(folder, reports, machine, commit, date):
    """The same on a GPU, of reports of fmbem-bench-fmm. A method's rows say what was asked: a report is named
    after it, as direct.json or treecode-large.json."""
    rows = []
    for report in reports:
        asked = report.stem.split("-")[0]
        for row in json.loads(report.read_text(encoding="utf-8")):
            stages, operations = row["seconds"]["stages"], row["operations"]
            if row["method"] == "treecode":  # which sums pairs of points as it walks
                operations = {"M2P": operations["M2P"] + operations["P2P"]} if "M2P" in operations else {}
            kept = ("points", "method", "order", "precision", "max_leaf", "near_pairs", "m2p_pairs", "m2l_rows")
            rows.append({key: row[key] for key in kept} | {
                "asked": asked, "plan_s": row["seconds"]["plan"], "evaluate_s": row["seconds"]["evaluate"],
                "potential_error": row["error_potential"], "force_error": row["error_gradient"]}
                | {f"{stage}_s": round(stages.get(stage, 0), 7) for stage in
                   ("sort", "P2M", "M2M", "gather", "M2L", "L2L", "L2P", "M2P", "P2P")}
                | {f"{stage}_gflops": round(1e-9 * operations[stage] / stages[stage], 1)
                   if stage in operations and stages.get(stage) else "" for stage in ("P2P", "M2P", "M2L")}
                | {"command": f"fmbem-bench-fmm --backend cuda --tolerance 1e-4 --outputs both --method {asked} "
                              f"--points {row['points']} --repeat {row['repeat']} --check {row['check']}",
                   "machine": machine, "date": date, "commit": commit})
    rows.sort(key=lambda row: (row["asked"], row["points"]))
    nbody_runs.write_rows(folder / "papers_methods_gpu.csv", rows)
    figure, (place, rates) = pyplot.subplots(1, 2, figsize=(8, 3.4))
    draw_seconds(place, rows)
    for asked, stage, colour in (("direct", "P2P", "direct"), ("fmm", "P2P", "hybrid"), ("treecode", "M2P", "treecode"),
                                 ("fmm", "M2L", "fmm")):
        own = [(row["points"], row[f"{stage}_gflops"]) for row in rows
               if row["asked"] == asked and row[f"{stage}_gflops"]]
        rates.loglog(*zip(*own), "o-", color=COLOURS[colour], label=f"{stage} of {asked}")
    rates.set(xlabel="points", ylabel="Gflop/s")
    rates.legend()
    figure.savefig(folder / "papers_methods_gpu.svg", metadata={"Date": None})


def theta(folder):
    """θ against the error, with the bound (1 + θ)/(1 − θ) θ^(p+1) for charges of one sign."""
    rows = []
    for cloud in ("cube", "sphere", "plummer"):
        for order in (2, 5, 9):
            for t in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
                result = nbody("--points", 5000, "--distribution", cloud, "--charges", "equal", "--method", "treecode",
                               "--theta", t, "--order", order, "--leaf", 16, "--tolerance", "1e-12")
                rows.append(row_of(result, distribution=cloud, bound=(1 + t) / (1 - t) * t**(order + 1)))
    nbody_runs.write_rows(folder / "papers_theta.csv", rows)
    figure, axes = pyplot.subplots(1, 3, figsize=(8, 3), sharey=True)
    for place, cloud in zip(axes, ("cube", "sphere", "plummer")):
        for order, colour in zip((2, 5, 9), COLOURS.values()):
            own = [row for row in rows if row["distribution"] == cloud and row["order"] == order]
            place.semilogy([r["theta"] for r in own], [r["potential_error"] for r in own], "o-", color=colour,
                           label=f"order {order}")
            place.semilogy([r["theta"] for r in own], [r["bound"] for r in own], "--", color=colour)
        place.set(xlabel="θ", title=cloud)
    axes[0].set(ylabel="error of the potential; bound dashed")
    axes[0].legend()
    figure.savefig(folder / "papers_theta.svg", metadata={"Date": None})


def leaves(folder, most, repeats, threads=2):
    """FMM against hybrid over the leaf sizes that are asked for (Yokota and Barba 2012, figure 9)."""
    rows = []
    for n in (100_000, 1_000_000):
        for cloud in ("cube", "sphere"):
            for order, tolerance in ((5, "1e-3"), (10, "1e-5"), (15, "1e-7")):
                if n > most or (n > 100_000 and order != 10):
                    continue
                for leaf in (16, 32, 64, 128, 256, 512):
                    for method in ("fmm", "hybrid"):
                        result = nbody("--points", n, "--distribution", cloud, "--method", method, "--order", order,
                                       "--tolerance", tolerance, "--leaf", leaf, "--repeats", repeats, "--threads", threads)
                        rows.append(row_of(result, distribution=cloud, asked_leaf=leaf))
    nbody_runs.write_rows(folder / "papers_leaves.csv", rows)
    draw_leaves(folder, rows)


def leaves_gpu(folder, reports, machine, commit, date):
    """The same on a GPU, of reports of fmbem-bench-fmm --outputs both with several leaf sizes."""
    rows = []
    for report in reports:
        for row in json.loads(report.read_text(encoding="utf-8")):
            kept = ("points", "distribution", "method", "order", "precision", "asked_leaf", "max_leaf", "near_pairs",
                    "m2p_pairs", "p2l_pairs", "m2l_rows")
            stages = row["seconds"]["stages"]
            rows.append({key: row[key] for key in kept} | {
                "plan_s": row["seconds"]["plan"], "evaluate_s": row["seconds"]["evaluate"],
                "potential_error": row["error_potential"], "force_error": row["error_gradient"]}
                | {f"{stage}_s": round(stages[stage], 7) for stage in
                   ("sort", "P2M", "P2L", "M2M", "gather", "M2L", "L2L", "P2P", "M2P", "L2P")}
                | {"command": f"fmbem-bench-fmm --backend cuda --method {row['method']} --outputs both "
                              f"--distribution {row['distribution']} --points {row['points']} --order {row['order']} "
                              f"--tolerance {row['tolerance']:g} --max-leaf {row['asked_leaf']} "
                              f"--repeat {row['repeat']} --check {row['check']}",
                   "machine": machine, "date": date, "commit": commit})
    rows.sort(key=lambda row: (row["points"], row["order"], row["distribution"], row["asked_leaf"], row["method"]))
    nbody_runs.write_rows(folder / "papers_leaves_gpu.csv", rows)
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.4), sharey=True)
    for place, cloud in zip(axes, ("cube", "sphere")):
        for method in ("fmm", "hybrid"):
            for order, line in ((5, "o:"), (10, "o-"), (15, "o--")):
                own = [(row["asked_leaf"], row["evaluate_s"]) for row in rows
                       if (row["distribution"], row["method"], row["order"], row["points"]) ==
                       (cloud, method, order, 1_000_000)]
                if own:
                    place.loglog(*zip(*own), line, color=COLOURS[method], label=f"{method}, order {order}")
        place.set_xticks((16, 32, 64, 128, 256, 512), ("16", "32", "64", "128", "256", "512"))
        place.minorticks_off()
        place.set(title=cloud, xlabel="leaf size asked for")
    axes[0].set(ylabel="seconds of an evaluation")
    axes[0].legend(fontsize=7)
    figure.savefig(folder / "papers_leaves_gpu.svg", metadata={"Date": None})


def draw_leaves(folder, rows):
    """Seconds, and pairs of points, which do not depend on what else the machine does."""
    figure, axes = pyplot.subplots(2, 2, figsize=(8, 6), sharex=True, sharey="row")
    for column, cloud in enumerate(("cube", "sphere")):
        for place, quantity in zip(axes[:, column], ("evaluate_s", "near_pairs")):
            for method in ("fmm", "hybrid"):
                for order, line in ((5, "o:"), (10, "o-"), (15, "o--")):
                    own = [(int(row["asked_leaf"]), float(row[quantity])) for row in rows
                           if (row["distribution"], row["method"], int(row["order"]), int(row["points"])) ==
                           (cloud, method, order, 100_000)]
                    place.loglog(*zip(*own), line, color=COLOURS[method], label=f"{method}, order {order}")
            place.set_xticks((16, 32, 64, 128, 256, 512), ("16", "32", "64", "128", "256", "512"))
            place.minorticks_off()
        axes[0, column].set(title=cloud)
        axes[1, column].set(xlabel="leaf size asked for")
    axes[0, 0].set(ylabel="seconds of an evaluation")
    axes[1, 0].set(ylabel="pairs of points summed directly")
    axes[0, 0].legend(fontsize=7)
    figure.savefig(folder / "papers_leaves.svg", metadata={"Date": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tables", nargs="+", choices=("theta", "methods", "leaves", "gpu", "leaves_gpu"),
                        default=("theta", "methods", "leaves"))
    parser.add_argument("--reports", nargs="+", type=pathlib.Path, default=())
    for of_reports in ("--machine", "--commit", "--date"):
        parser.add_argument(of_reports, default="", help="of the reports")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if "theta" in given.tables:
        theta(given.folder)
    if "methods" in given.tables:
        methods(given.folder, given.most)
    if "leaves" in given.tables:
        leaves(given.folder, given.most, given.repeats)
    if "leaves_gpu" in given.tables:
        leaves_gpu(given.folder, given.reports, given.machine, given.commit, given.date)
    if "gpu" in given.tables:
        methods_gpu(given.folder, given.reports, given.machine, given.commit, given.date)
