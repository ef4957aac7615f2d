"""Pictures of a study's tables: study_pictures.py DIR. fmbem study --plot DIR runs it.

Every picture is made as .svg and as .png. Colours are Okabe and Ito's, which the colour-blind can
tell apart; lines differ by dashes and markers as well, for print without colour.
"""

import csv
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import MaxNLocator  # noqa: E402

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9"]
DASHES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 2))]
MARKERS = "osD^vP*X"
# What tells lines of a picture apart, where it differs: a column and how it is shown.
CHOICES = [("mesh_size", "size {}"), ("formulation", "{}"), ("method", "{}"), ("restart", "restart {}"),
           ("side", "{}"), ("preconditioner", "{}"), ("tolerance", "tol {}"), ("operator", "{}"),
           ("operator_tolerance", "op tol {}"), ("precision", "{}"), ("backend", "{}"),
           ("petsc_options", "{}"), ("rhs", "rhs {}")]
NAMES = {"none": "no preconditioner", "leaves": "leaf blocks", "jacobi": "Jacobi", "asm": "Schwarz",
         "ilu": "ILU(0)", "gamg": "AMG"}

pyplot.rcParams.update({
    "font.size": 9, "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6,
    "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
    "axes.titlesize": 9, "legend.fontsize": 8, "legend.frameon": False, "lines.linewidth": 1.5,
    "lines.markersize": 4.5, "figure.constrained_layout.use": True, "savefig.dpi": 200,
    "svg.hashsalt": "fmbem", "svg.fonttype": "none"})


def read(path):
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def number(text):
    return float(text) if text else None


class Styles:
    """One style for each label, the same in all pictures."""

    def __init__(self):
        self.known = {}

    def of(self, label):
        k = self.known.setdefault(label, len(self.known))
        return {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k % len(DASHES)],
                "marker": MARKERS[k % len(MARKERS)]}


def mesh_name(run):
    """What the sizes of a series have in common: file and numbers of one mesh are another series."""
    return pathlib.PurePath(run["mesh"]).stem


def label_of(run, runs, leave_out=()):
    """What distinguishes the run from the others."""
    parts = []
    for column, shown in CHOICES:
        if column not in leave_out and len({other[column] for other in runs}) > 1 and run[column]:
            parts.append(shown.format(NAMES.get(run[column], run[column])))
    return ", ".join(parts) or f"{run['method']}, {NAMES.get(run['preconditioner'], run['preconditioner'])}"


def panels(count, width=4.2, height=3.1, columns=3):
    """A figure with so many axes, in rows."""
    columns = min(columns, count)
    rows = -(-count // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False)
    flat = list(axes.flat)
    for unused in flat[count:]:
        unused.remove()
    return figure, flat[:count]


def finish(figure, folder, name, handles=()):
    """One legend below all panels."""
    unique = {}
    for handle in handles:
        unique.setdefault(handle.get_label(), handle)
    if unique:
        longest = max(len(label) for label in unique)
        width = figure.get_size_inches()[0]
        columns = max(1, min(len(unique), int(width * 14 / (longest + 8))))
        figure.legend(handles=list(unique.values()), loc="outside lower center", ncol=columns)
    for ending in ("svg", "png"):
        figure.savefig(folder / f"{name}.{ending}", metadata={"Date": None} if ending == "svg" else None)
    pyplot.close(figure)


def groups_of(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def draw_residuals(folder, runs, history, styles):
    """Residuals by iteration, on the finest mesh of each series."""
    curves = groups_of(history, lambda row: row["run"])
    groups = groups_of([run for run in runs if run["run"] in curves], mesh_name)
    if not groups:
        return
    figure, axes = panels(len(groups))
    handles = []
    for ax, (name, members) in zip(axes, groups.items()):
        finest = max(int(run["N"]) for run in members)
        members = [run for run in members if int(run["N"]) == finest]
        # A run to a loose tolerance is the beginning of one to a tight one.
        tightest = min(float(run["tolerance"]) for run in members)
        members = [run for run in members if float(run["tolerance"]) == tightest]
        for run in members:
            style = styles.of(label_of(run, runs, ("tolerance", "operator_tolerance")))
            label = label_of(run, runs, ("tolerance", "operator_tolerance"))
            for k, points in enumerate(groups_of(curves[run["run"]], lambda row: row["rhs"]).values()):
                line, = ax.semilogy([int(p["iteration"]) for p in points],
                                    [float(p["residual"]) for p in points],
                                    label=label, markevery=max(1, len(points) // 8), **style)
                handles.append(line)
        ax.axhline(tightest, color="#888888", linewidth=0.8)
        ax.set_title(f"{name}, N = {finest:,}")
        ax.set_xlabel("iteration")
        ax.set_ylabel("residual, relative to the first")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylim(bottom=tightest / 10)
    finish(figure, folder, "residuals", handles)


def draw_iterations(folder, runs, styles):
    """Iterations by N; hollow where the tolerance was not reached."""
    groups = groups_of([run for run in runs if run["iterations"]], mesh_name)
    if not groups:
        return
    figure, axes = panels(len(groups))
    handles = []
    for ax, (name, members) in zip(axes, groups.items()):
        for label, series in groups_of(members, lambda run: label_of(run, runs, ("mesh_size",))).items():
            style = styles.of(label)
            series = sorted(series, key=lambda run: int(run["N"]))
            n, its = [int(run["N"]) for run in series], [int(run["iterations"]) for run in series]
            line, = ax.plot(n, its, label=label, **style)
            handles.append(line)
            missed = [k for k, run in enumerate(series) if run["status"] == "not_converged"]
            ax.plot([n[k] for k in missed], [its[k] for k in missed], linestyle="none",
                    marker=style["marker"], color=style["color"], markerfacecolor="white", zorder=5)
        ax.set_xscale("log")
        ax.set_title(name)
        ax.set_xlabel("panels N")
        ax.set_ylabel("iterations")
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylim(bottom=0)
    if any(run["status"] == "not_converged" for run in runs):
        handles.append(Line2D([], [], color="#555555", marker="o", markerfacecolor="white", linestyle="none",
                              label="not converged"))
    finish(figure, folder, "iterations", handles)


def draw_work_precision(folder, runs, styles):
    """True residual by the time of the solve, on the finest mesh; error by the time of everything."""
    solved = [run for run in runs if run["solve_s"] and run["status"] != "not_converged"]
    names = list(groups_of(solved, mesh_name))
    if not names:
        return
    erring = [name for name in names if any(run["error"] for run in solved if mesh_name(run) == name)]
    figure, axes = panels(len(names) + len(erring), columns=2 if erring else 3)
    handles, axes = [], iter(axes)
    for name in names:
        members = [run for run in solved if mesh_name(run) == name]
        finest = max(int(run["N"]) for run in members)
        at_finest = [run for run in members if int(run["N"]) == finest]
        ax = next(axes)
        hide = ("tolerance", "operator_tolerance", "mesh_size")
        for label, series in groups_of(at_finest, lambda run: label_of(run, runs, hide)).items():
            series = sorted(series, key=lambda run: -float(run["true_residual"]))
            seconds = [float(run["solve_s"]) for run in series]
            spread = [[s - float(run["solve_s_min"]) for s, run in zip(seconds, series)],
                      [float(run["solve_s_max"]) - s for s, run in zip(seconds, series)]]
            style = styles.of(label)
            bars = ax.errorbar(seconds, [float(run["true_residual"]) for run in series], xerr=spread,
                               capsize=2, label=label, **style)
            handles.append(bars)
        ax.set(xscale="log", yscale="log", xlabel="time of the solve (s)", ylabel="true residual",
               title=f"{name}, N = {finest:,}")
        if name not in erring:
            continue
        ax = next(axes)
        tightest = min(float(run["tolerance"]) for run in members)
        with_error = [run for run in members if run["error"] and float(run["tolerance"]) == tightest]
        for label, series in groups_of(with_error, lambda run: label_of(run, runs, hide)).items():
            series = sorted(series, key=lambda run: int(run["N"]))
            handles += ax.plot([float(run["setup_s"]) + float(run["solve_s"]) for run in series],
                               [float(run["error"]) for run in series], label=label, **styles.of(label))
        ax.set(xscale="log", yscale="log", xlabel="time of setup and solve (s)",
               ylabel="relative error of the potential", title=f"{name}, all N")
    finish(figure, folder, "work_precision", handles)


def draw_spectrum(folder, runs, spectrum):
    """Eigenvalues, Ritz values and the field of values of preconditioned operators."""
    by_run = groups_of(spectrum, lambda row: row["run"])
    shown = [run for run in runs if run["run"] in by_run]
    # Those with eigenvalues tell most; without any, the Ritz values.
    full = [run for run in shown if any(row["kind"] == "eigenvalue" for row in by_run[run["run"]])]
    shown = (full or shown)[:12]
    if not shown:
        return
    figure, axes = panels(len(shown))
    handles = []
    for ax, run in zip(axes, shown):
        kinds = groups_of(by_run[run["run"]], lambda row: row["kind"])

        def points(kind):
            rows = kinds.get(kind, [])
            return [float(row["re"]) for row in rows], [float(row["im"]) for row in rows]

        x, y = points("field")
        if x:
            handles += ax.fill(x + x[::-1], y + [-v for v in y[::-1]], facecolor="#56B4E9", alpha=0.25,
                               edgecolor="#0072B2", linewidth=0.8, label="field of values")
        handles += ax.plot(*points("eigenvalue"), linestyle="none", marker=".", markersize=3.5,
                           color="#000000", label="eigenvalues")
        if "ritz" in kinds:
            handles += ax.plot(*points("ritz"), linestyle="none", marker="x", markersize=6,
                               color="#D55E00", label="Ritz values")
        ax.plot(0, 0, marker="+", color="#888888", markersize=8)
        singular = [float(row["re"]) for row in kinds.get("singular", [])]
        condition = singular[0] / singular[-1] if singular and singular[-1] > 0 else number(run["condition"])
        title = f"{mesh_name(run)}, N = {int(run['N']):,}"
        title += f"\n{label_of(run, runs, ('method', 'restart', 'tolerance', 'operator_tolerance', 'rhs'))}"
        ax.set_title(title + (f", condition {condition:.3g}" if condition else ""))
        ax.set_xlabel("real part")
        ax.set_ylabel("imaginary part")
        low, high = ax.get_ylim()
        wide = ax.get_xlim()[1] - ax.get_xlim()[0]
        if high - low < 0.02 * wide:  # all on a line
            ax.set_ylim(-0.05 * wide, 0.05 * wide)
    finish(figure, folder, "spectrum", handles)


def main(folder):
    folder = pathlib.Path(folder)
    runs, history, spectrum = (read(folder / f"{name}.csv") for name in ("runs", "history", "spectrum"))
    runs = [run for run in runs if run["status"] != "failed"]
    styles = Styles()
    for run in runs:  # one order for all pictures
        styles.of(label_of(run, runs, ("tolerance", "operator_tolerance", "mesh_size")))
    draw_residuals(folder, runs, history, styles)
    draw_iterations(folder, runs, styles)
    draw_work_precision(folder, runs, styles)
    draw_spectrum(folder, runs, spectrum)


if __name__ == "__main__":
    main(sys.argv[1])
