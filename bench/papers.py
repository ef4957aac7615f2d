#!/usr/bin/env python3
"""Tables and figures of docs/papers.md: papers.py FOLDER [--most N] [--repeats K] [--tables NAME…]
[--backend NAME] [--reports FILE…], or papers.py FOLDER --draw DATA [--tables NAME…].

The first way runs the program fmbem, which FMBEM_PROGRAM names or PATH has, and writes papers_methods.csv
(time of each method over the number of points), papers_rates_cpu.csv (Gflop/s over it), papers_direct_cpu.csv
(pairs a second of direct sums), papers_theta.csv (θ against error, with the bound; with --backend cuda
papers_theta_gpu.csv), papers_leaves.csv (FMM and hybrid over the leaf size that is asked for) and a picture of
each (.svg). Direct sums of many points are timed at some targets by fmbem-bench-fmm, which FMBEM_BENCH_FMM
names or PATH has. The tables gpu and leaves_gpu make
papers_methods_gpu.csv, papers_leaves_gpu.csv and their pictures of reports of fmbem-bench-fmm (its option
--json). The second way runs nothing and draws the pictures of the tables that the folder DATA has:
docs/images is drawn of docs/data. Without Matplotlib there are tables alone.
"""

import argparse
import csv
import json
import pathlib

import nbody_runs
import tree_times

COLOURS = {"direct": "#D55E00", "treecode": "#009E73", "fmm": "#0072B2", "hybrid": "#CC79A7"}
try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"font.size": 9, "axes.grid": True, "grid.color": "#dddddd", "svg.hashsalt": "fmbem",
                            "svg.fonttype": "none", "legend.frameon": False, "figure.constrained_layout.use": True})
except ModuleNotFoundError:
    pyplot = None


def table(data, name):
    """The rows of a table, whose cells are text; none if there is no such table."""
    file = data / name
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def line_of(rows, x, y, scale=1, **chosen):
    """Two columns as numbers, of the rows that have the chosen values, where both are given and not 0."""
    own = [row for row in rows if all(row[key] == str(value) for key, value in chosen.items())]
    return zip(*((float(row[x]), scale * float(row[y])) for row in own if row[x] and row[y] and float(row[y])))


def draw_line(axes, line, *style, **more):
    if line := list(line):
        axes.plot(*line, *style, **more)


def save(figure, folder, name):
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    pyplot.close(figure)


def nbody(*words):
    report, _ = nbody_runs.report_of(words)
    return report | nbody_runs.provenance([str(word) for word in words], report)


def row_of(result, **more):
    kept = ("points", "method", "order", "theta", "leaf", "precision", "near_pairs", "m2p_pairs", "m2l_rows",
            "plan_s", "evaluate_s", "potential_error", "force_error")
    rates_of = {f"{stage}_gflops": round(result["gflops"].get(stage, 0), 2) for stage in ("P2P", "M2P", "M2L")}
    return {key: result[key] for key in kept} | more | rates_of | {
        key: result[key] for key in ("command", "machine", "date", "commit")}


def next_number(n):
    """The next of 1000, 3000, 10,000 and so on."""
    return round(n * (3 if str(n)[0] == "1" else 10 / 3))


# (θ, order) of the treecodes of which the fastest is taken that has the error.
TREECODES = [(theta, order) for theta in (0.5, 0.6, 0.7) for order in (2, 3, 4, 5, 6)]
SAMPLED_TARGETS = 2000


def treecode_of_error(n, error):
    """The words of the fastest treecode of n points with that error of the force, or less, at the targets that are
    checked: of runs of a single evaluation."""
    runs = []
    for theta, order in TREECODES:
        words = ("--points", n, "--method", "treecode", "--tolerance", f"{error:g}", "--theta", theta, "--order", order)
        result = nbody(*words, "--threads", 1)
        if result["force_error"] <= error:
            runs.append((result["evaluate_s"], words))
    return min(runs)[1]


def direct_at_targets(n, commit):
    """Processor seconds of a direct sum at the first targets alone, and of one at all points at that rate: without
    Newton's third law, which only sources that are the targets have."""
    words = ("--method", "direct", "--points", n, "--targets", SAMPLED_TARGETS, "--outputs", "both", "--tolerance",
             "1e-4", "--threads", 1, "--check", 0)
    more = 3
    (row, once), (_, several) = (tree_times.report_of([*words, "--repeat", k]) for k in (1, 1 + more))
    seconds = (several - once) / more
    return {"points": n, "targets": SAMPLED_TARGETS, "method": "direct", "precision": row["precision"],
            "near_pairs": row["near_pairs"], "sampled_s": round(seconds, 4),
            "evaluate_s": round(seconds * n / SAMPLED_TARGETS, 1),
            "P2P_gflops": round(1e-9 * row["operations"]["P2P"] / seconds, 2)} | nbody_runs.measured(
                ["fmbem-bench-fmm", *words, "--repeat", 1 + more], commit)


def methods(folder, most, most_direct=300_000):
    """Time over N at a force error of 1e-4 (Yokota and Barba, figure 5), of the processor, with one thread: so other
    programs may run beside it."""
    def rows():
        n = 1000
        while n <= most:
            for method in ("direct", "treecode", "fmm", "hybrid", "automatic"):
                if method == "direct" and n > most_direct:
                    continue
                words = ("--points", n, "--method", method, "--tolerance", "1e-4")
                if method == "treecode":
                    words = treecode_of_error(n, 1e-4)
                row = row_of(nbody(*words, "--repeats", 1, "--threads", 1), asked=method)
                yield row | {"evaluate_s": nbody_runs.seconds_of(words, busy=3)}
            n = next_number(n)
    nbody_runs.write_rows(folder / "papers_methods.csv", rows())


def sampled(folder, most, commit):
    """Direct sums of more points than are summed at all of them."""
    nbody_runs.write_rows(folder / "papers_sampled_cpu.csv", (
        direct_at_targets(n, commit) for n in (1_000_000, 3_000_000, 10_000_000) if n <= most))


def direct(folder, points=30_000):
    """Pairs a second of direct sums with one thread, by tolerance."""
    def rows():
        for words, outputs in ((("--potential-only",), "potential"), ((), "potential and gradient")):
            for tolerance in ("1e-3", "1e-5", "1e-7", "1e-12"):
                run = ("--points", points, "--method", "direct", "--tolerance", tolerance, *words, "--threads", 1)
                result = min((nbody(*run, "--repeats", 5) for _ in range(3)), key=lambda one: one["evaluate_s"])
                yield {"points": points, "outputs": outputs, "tolerance": tolerance, "precision": result["precision"],
                       "evaluate_s": result["evaluate_s"],
                       "pairs_per_s": f"{points**2 / result['evaluate_s']:.4g}",
                       "potential_error": result["potential_error"], "force_error": result["force_error"]} | {
                           key: result[key] for key in ("command", "machine", "date", "commit")}
    nbody_runs.write_rows(folder / "papers_direct_cpu.csv", rows())


def rates(folder, most, most_direct=300_000, busy=3):
    """Gflop/s of stages over N with one thread, of the fastest of as many evaluations as take some seconds, and of
    two runs: so other programs disturb them less."""
    def rows():
        n = 1000
        while n <= most:
            for method in ("direct", "treecode", "fmm"):
                if method == "direct" and n > most_direct:
                    continue
                words = ("--points", n, "--method", method, "--tolerance", "1e-4", "--threads", 1, "--check", 0)
                repeats = max(1, min(1000, round(busy / nbody(*words)["evaluate_s"])))
                runs = [nbody(*words, "--repeats", repeats) for _ in range(2)]
                result = min(runs, key=lambda run: run["evaluate_s"])
                row = row_of(result, asked=method)
                yield {key: value for key, value in row.items() if not key.endswith("_error")}
            n = next_number(n)
    nbody_runs.write_rows(folder / "papers_rates_cpu.csv", rows())


def draw_methods(folder, data):
    figure, (place, second) = pyplot.subplots(1, 2, figsize=(8, 3.4))
    rows = table(data, "papers_methods.csv")
    draw_seconds(place, rows)
    draw_line(place, line_of(table(data, "papers_sampled_cpu.csv"), "points", "evaluate_s"), "s:",
              color=COLOURS["direct"], markerfacecolor="none", label="direct, extrapolated")
    place.legend()
    draw_rates(second, table(data, "papers_rates_cpu.csv"))
    second.set(yscale="linear", ylim=(0, None))
    second.legend(loc="lower right")
    save(figure, folder, "papers-methods")


def draw_methods_gpu(folder, data):
    figure, (place, second) = pyplot.subplots(1, 2, figsize=(8, 3.4))
    rows = table(data, "papers_methods_gpu.csv")
    draw_seconds(place, rows)
    draw_rates(second, rows)
    save(figure, folder, "papers-methods-gpu")


def draw_seconds(axes, rows):
    lines = [(method, colour, "o-") for method, colour in COLOURS.items()]
    for asked, colour, line in (*lines, ("automatic", "k", "+")):
        draw_line(axes, line_of(rows, "points", "evaluate_s", asked=asked), line, color=colour, label=asked)
    axes.set(xlabel="points", ylabel="seconds of an evaluation", xscale="log", yscale="log")
    axes.legend()


def draw_rates(axes, rows):
    for asked, stage, colour in (("direct", "P2P", "direct"), ("fmm", "P2P", "hybrid"),
                                 ("treecode", "M2P", "treecode"), ("fmm", "M2L", "fmm")):
        draw_line(axes, line_of(rows, "points", f"{stage}_gflops", asked=asked), "o-", color=COLOURS[colour],
                  label=f"{stage} of {asked}")
    axes.set(xlabel="points", ylabel="Gflop/s", xscale="log", yscale="log")
    axes.legend()


def draw_errors(folder, data):
    """Errors of the force over N, against compensated direct sums at sampled targets."""
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.2), sharey=True)
    for place, name, title in zip(axes, ("papers_methods.csv", "papers_methods_gpu.csv"), ("CPU", "GPU")):
        rows = table(data, name)
        for method in COLOURS:
            draw_line(place, line_of(rows, "points", "force_error", asked=method), "o-", color=COLOURS[method],
                      label=method)
        place.axhline(1e-4, color="k", linestyle="--", linewidth=0.8)
        place.set(xlabel="points", title=title, xscale="log", yscale="log")
    axes[0].set(ylabel="error of the force; asked for dashed")
    axes[0].legend()
    save(figure, folder, "papers-errors")


def methods_gpu(folder, reports, machine, commit, date):
    """The same on a GPU, of reports of fmbem-bench-fmm. A method's rows say what was asked: a report is named
    after it, as direct.json or treecode-large.json."""
    rows = []
    for report in reports:
        asked = report.stem.split("-")[0]
        for row in json.loads(report.read_text(encoding="utf-8")):
            stages, operations = row["seconds"]["stages"], row["operations"]
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


def theta(folder, backend):
    """θ against the error of treecodes and, on the CPU, of hybrids, with the bound (1 + θ)/(1 − θ) θ^(p+1) for charges
    of one sign."""
    rows = []
    for method in ("treecode",) if backend == "cuda" else ("treecode", "hybrid"):
        for cloud in ("cube", "sphere", "plummer"):
            for order in (2, 5, 9):
                for t in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
                    words = ("--points", 5000, "--distribution", cloud, "--charges", "equal", "--method", method,
                             "--theta", t, "--order", order, "--leaf", 16, "--tolerance", "1e-12")
                    result = nbody(*words, *(("--backend", "cuda") if backend == "cuda" else ()))
                    rows.append(row_of(result, distribution=cloud, bound=(1 + t) / (1 - t) * t**(order + 1)))
    nbody_runs.write_rows(folder / ("papers_theta_gpu.csv" if backend == "cuda" else "papers_theta.csv"), rows)


def draw_theta(folder, data):
    """Of the CPU with lines, hybrids' dotted, and of the GPU with crosses, where its table is there."""
    cpu, gpu = (table(data, name) for name in ("papers_theta.csv", "papers_theta_gpu.csv"))
    figure, axes = pyplot.subplots(1, 3, figsize=(8, 3), sharey=True)
    for place, cloud in zip(axes, ("cube", "sphere", "plummer")):
        for order, colour in zip((2, 5, 9), COLOURS.values()):
            chosen = {"distribution": cloud, "order": order, "method": "treecode"}
            draw_line(place, line_of(cpu, "theta", "potential_error", **chosen), "o-", color=colour,
                      label=f"order {order}")
            draw_line(place, line_of(cpu, "theta", "potential_error", **chosen | {"method": "hybrid"}), "v:",
                      color=colour, label="hybrid" if order == 9 else None)
            draw_line(place, line_of(gpu, "theta", "potential_error", **chosen), "kx", zorder=3,
                      label="GPU" if order == 9 else None)
            draw_line(place, line_of(cpu or gpu, "theta", "bound", **chosen), "--", color=colour)
        place.set(xlabel="θ", title=cloud, yscale="log")
    axes[0].set(ylabel="error of the potential; bound dashed")
    axes[2].legend(*axes[0].get_legend_handles_labels(), loc="center left", bbox_to_anchor=(1, 0.5))
    save(figure, folder, "papers-theta")


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
                                       "--tolerance", tolerance, "--leaf", leaf, "--repeats", repeats,
                                       "--threads", threads)
                        rows.append(row_of(result, distribution=cloud, asked_leaf=leaf))
    nbody_runs.write_rows(folder / "papers_leaves.csv", rows)


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


LEAVES = (16, 32, 64, 128, 256, 512)


def draw_over_leaves(axes, rows, points, quantity):
    """A quantity over the leaf size asked for, in the cube and on the sphere."""
    for place, cloud in zip(axes, ("cube", "sphere")):
        for method in ("fmm", "hybrid"):
            for order, line in ((5, "o:"), (10, "o-"), (15, "o--")):
                draw_line(place, line_of(rows, "asked_leaf", quantity, distribution=cloud, method=method, order=order,
                                         points=points),
                          line, color=COLOURS[method], label=f"{method}, order {order}")
        place.set(xscale="log", yscale="log")
        place.set_xticks(LEAVES, map(str, LEAVES))
        place.minorticks_off()


def draw_leaves(folder, data):
    """Seconds of an idle processor, and pairs of points, which do not depend on what else the machine does."""
    counted = table(data, "papers_leaves.csv")
    idle = table(data, "papers_leaves_idle_cpu.csv") or counted
    rows = ((idle, 100_000, "evaluate_s", "seconds, 100,000 points", (0.03, 0.05, 0.1, 0.2, 0.4)),
            (idle, 1_000_000, "evaluate_s", "seconds, a million points", (0.3, 0.4, 0.6, 0.8)),
            (counted, 100_000, "near_pairs", "pairs of points, 100,000 points", (2e7, 5e7, 1e8, 2e8, 4e8)))
    figure, axes = pyplot.subplots(3, 2, figsize=(8, 8.4), sharex=True, sharey="row")
    for places, (own, points, quantity, label, ticks) in zip(axes, rows):
        draw_over_leaves(places, own, points, quantity)
        places[0].set(ylabel=label)
        places[0].set_yticks(ticks, [f"{tick:g}".replace("e+0", "e") for tick in ticks])
    for place, cloud in zip(axes[0], ("cube", "sphere")):
        place.set(title=cloud)
    for place in axes[-1]:
        place.set(xlabel="leaf size asked for")
    axes[1, 0].legend(*axes[0, 0].get_legend_handles_labels(), fontsize=7, loc="upper center",
                      handlelength=4)
    save(figure, folder, "papers-leaves")


def draw_leaves_gpu(folder, data):
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.4), sharey=True)
    draw_over_leaves(axes, table(data, "papers_leaves_gpu.csv"), 1_000_000, "evaluate_s")
    for place, cloud in zip(axes, ("cube", "sphere")):
        place.set(title=cloud, xlabel="leaf size asked for")
    axes[0].set(ylabel="seconds of an evaluation")
    axes[0].legend(fontsize=7)
    save(figure, folder, "papers-leaves-gpu")


def draw_trees(folder, data):
    """Milliseconds of trees and lists over their depth and over N, of the CPU with lines, of the GPU dashed."""
    backends = [(backend, line, [row | {"depth": str(int(row["levels"]) - 1)} for row in table(data, name)])
                for backend, line, name in (("CPU", "o-", "papers_trees_cpu.csv"),
                                            ("GPU", "s--", "papers_trees_gpu.csv"))]
    parts = (("sort", "to_tree_ms", "sort", "fmm"), ("histogram", "to_tree_ms", "histogram", "direct"),
             ("lists", "lists_ms", "histogram", "treecode"))
    figure, axes = pyplot.subplots(1, 3, figsize=(9.6, 3.4), sharey=True)
    for backend, line, rows in backends:
        for label, column, construction, colour in parts:
            style = {"color": COLOURS[colour], "markersize": 4, "label": f"{label}, {backend}"}
            for place, cloud in zip(axes, ("cube", "sphere")):
                own = [row for row in rows if int(row["max_leaf"]) in tree_times.LEAVES[cloud]]
                draw_line(place, line_of(own, "depth", column, distribution=cloud, construction=construction,
                                         points=2**20), line, **style)
            own = sorted((row for row in rows if row["max_leaf"] == "66"), key=lambda row: int(row["points"]))
            draw_line(axes[2], line_of(own, "points", column, distribution="cube", construction=construction), line,
                      **style)
    axes[2].plot((2**17, 2**22), (1.5, 48), color="k", linewidth=0.8, label="slope of N")
    for place, title in zip(axes, ("cube, 1,048,576 points", "sphere, 1,048,576 points", "cube, leaves of 66")):
        place.set(title=title, xlabel="depth", yscale="log")
    axes[2].set(xlabel="points", xscale="log")
    axes[2].set_xticks([2**k for k in range(17, 23)], [f"$2^{{{k}}}$" for k in range(17, 23)])
    axes[2].minorticks_off()
    axes[0].set(ylabel="milliseconds")
    axes[2].legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
    save(figure, folder, "papers-trees")


def draw_unequal(folder, data):
    """Times of clouds over the cube's by tolerance, with the most that is asked for."""
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.2), sharey=True)
    styles = (("fmm", "o"), ("direct", "s"), ("treecode", "^"))
    for place, name, title, most in (
            (axes[0], "papers_unequal_cpu.csv", "CPU", {"5e-4": 2, "2e-6": 2}),
            (axes[1], "papers_unequal_gpu.csv", "GPU", {"5e-4": 1.5, "2e-6": 1.5, "1e-7": 2})):
        rows = [row for row in table(data, name) if row["cloud"] != "cube"]
        for (tolerance, limit), (colour, marker) in zip(most.items(), styles):
            own = [row for row in rows if float(row["tolerance"]) == float(tolerance)]
            place.plot([row["cloud"] for row in own], [float(row["to_cube"]) for row in own], marker,
                       color=COLOURS[colour], label=f"tolerance {tolerance}")
            place.axhline(limit, color="k" if limit == most["5e-4"] else COLOURS[colour], linestyle="--",
                          linewidth=0.8)
        place.axhline(1, color="k", linewidth=0.8)
        place.set(title=title, ylim=(0, 2.2))
        place.legend(fontsize=8, loc="lower right")
    axes[0].set(ylabel="time over the cube's; most asked for dashed")
    save(figure, folder, "papers-unequal")


def draw_breakdown(folder, data):
    """Parts of an evaluation of ten million points by the FMM: of the fastest run on the CPU, and on the GPU, whose
    stages are timed one after the other."""
    cpu = min(table(data, "papers_breakdown_cpu.csv"), key=lambda row: float(row["evaluate_s"]))
    gpu, = (row for row in table(data, "papers_methods_gpu.csv")
            if (row["points"], row["asked"]) == ("10000000", "fmm"))
    stages = {"P2P": "#D55E00", "M2L": "#0072B2", "gather": "#56B4E9", "sort": "#999999", "L2P": "#009E73",
              "P2M": "#F0E442", "L2L": "#CC79A7", "M2M": "#E69F00"}
    figure, axes = pyplot.subplots(figsize=(8, 2.2))
    seconds = [{stage: float(row.get(f"{stage}_s") or 0) for stage in stages} for row in (gpu, cpu)]
    totals = [sum(of_run.values()) for of_run in seconds]
    names = [f"{name}, {1e3 * total:,.4g} ms" for name, total in zip(("GPU", "CPU"), totals)]
    left = [0.0, 0.0]
    for stage, colour in stages.items():
        shares = [100 * of_run[stage] / total for of_run, total in zip(seconds, totals)]
        axes.barh(names, shares, left=left, color=colour, label=stage)
        left = [a + b for a, b in zip(left, shares)]
    axes.set(xlabel="per cent of all stages, ten million points", xlim=(0, 100))
    axes.grid(False)
    axes.legend(ncols=8, loc="lower center", bbox_to_anchor=(0.5, 1), fontsize=8)
    save(figure, folder, "papers-breakdown")


def draw_third_law(folder, data):
    """Time of P2P on a GPU, plain over that by Newton's third law, over the points of a box."""
    rows = table(data, "papers_third_law_gpu.csv")
    figure, axes = pyplot.subplots(figsize=(4.6, 3.4))
    for (precision, outputs), colour in zip((("single", "potential"), ("double", "potential"), ("single", "both"),
                                             ("double", "both")), COLOURS.values()):
        draw_line(axes, line_of(rows, "points_a_box", "gain", precision=precision, outputs=outputs), "o-", color=colour,
                  label=f"{'potential' if outputs == 'potential' else 'and gradient'}, {precision}")
    axes.axhline(1, color="k", linewidth=0.8)
    axes.set(xlabel="points of a box", ylabel="time plain over time by the third law", xscale="log")
    axes.set_xticks([8 * 2**k for k in range(7)], [str(8 * 2**k) for k in range(7)])
    axes.minorticks_off()
    axes.legend()
    save(figure, folder, "papers-third-law-gpu")


DRAW = {"methods": draw_methods, "gpu": draw_methods_gpu, "errors": draw_errors, "theta": draw_theta,
        "leaves": draw_leaves, "leaves_gpu": draw_leaves_gpu, "trees": draw_trees, "unequal": draw_unequal,
        "breakdown": draw_breakdown, "third_law": draw_third_law}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tables", nargs="+", choices=(*DRAW, "rates", "direct", "sampled"))
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu", help="of the table theta")
    parser.add_argument("--draw", type=pathlib.Path, metavar="DATA",
                        help="draw the tables of this folder, run nothing")
    parser.add_argument("--reports", nargs="+", type=pathlib.Path, default=())
    for of_reports in ("--machine", "--commit", "--date"):
        parser.add_argument(of_reports, default="", help="of the reports")
    given = parser.parse_args()
    if given.draw and not pyplot:
        parser.error("figures need Matplotlib")
    given.folder.mkdir(parents=True, exist_ok=True)
    tables = given.tables or (DRAW if given.draw else ("theta", "methods", "rates", "direct", "leaves"))
    if not given.draw:
        of_report = (given.reports, given.machine, given.commit, given.date)
        measure = {"theta": lambda: theta(given.folder, given.backend),
                   "methods": lambda: methods(given.folder, given.most),
                   "rates": lambda: rates(given.folder, given.most),
                   "direct": lambda: direct(given.folder),
                   "sampled": lambda: sampled(given.folder, given.most, given.commit),
                   "leaves": lambda: leaves(given.folder, given.most, given.repeats),
                   "leaves_gpu": lambda: leaves_gpu(given.folder, *of_report),
                   "gpu": lambda: methods_gpu(given.folder, *of_report)}
        for name in tables:
            if name not in measure:
                parser.error(f"the table {name} is made of others: draw it with --draw DATA")
            measure[name]()
    for name in tables if pyplot else ():
        if name in DRAW:
            DRAW[name](given.folder, given.draw or given.folder)
