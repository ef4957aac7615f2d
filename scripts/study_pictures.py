"""Pictures of a study's tables: study_pictures.py DIR. fmbem study --plot DIR runs it.

Every picture is made as .svg and as .png. Colours are Okabe and Ito's, which the colour-blind can
tell apart; lines differ by dashes and markers as well, for print without colour.
"""

import csv
import io
import json
import math
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
MOST_LINES = 14  # that can be told apart
# What tells lines of a picture apart, where more than one was asked for: the option, the column and
# how it is shown.
CHOICES = [("pc", "preconditioner", "{}"), ("formulation", "formulation", "{}"), ("ksp", "method", "{}"),
           ("side", "side", "{}"), ("tolerance", "tolerance", "to {}"), ("operator", "operator", "{}"),
           ("operator-tolerance", "operator_tolerance", "operator to {}"), ("precision", "precision", "{}"),
           ("backend", "backend", "{}"), ("relax", "relax", "relaxed {}"),
           ("true-residual", "true_residual_goal", "corrected to {}"), ("axis", "petsc_options", "{}"), ("rhs", "rhs", "data {}")]
TOLERANCES = ("tolerance", "operator_tolerance")
RUN_NUMBERS = ("run", "N", "iterations", *TOLERANCES, "true_residual", "error", "condition", "setup_s", "solve_s",
               "solve_s_min", "solve_s_max")
NAMES = {"none": "no preconditioner", "leaves": "leaf blocks", "jacobi": "Jacobi", "asm": "Schwarz",
         "ilu": "ILU(0)", "gamg": "AMG"}

pyplot.rcParams.update({
    "font.size": 9, "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6,
    "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
    "axes.titlesize": 9, "legend.fontsize": 8, "legend.frameon": False, "lines.linewidth": 1.5,
    "lines.markersize": 4.5, "figure.constrained_layout.use": True, "savefig.dpi": 200,
    "svg.hashsalt": "fmbem", "svg.fonttype": "none"})


class Damaged(Exception):
    """Says what is wrong with which table."""


def read(path, numbers):
    """The rows of a table, of which these columns are numbers or empty. A row without its end is
    being written."""
    if not path.exists():
        return []
    text = path.read_bytes().decode(errors="replace")  # names of files may be no UTF-8
    rows = list(csv.DictReader(io.StringIO(text[:text.rfind("\n") + 1], newline="")))
    for row in rows:
        if None in row or None in row.values() or not set(numbers) <= row.keys():
            raise Damaged(f"{path} is damaged: a row of run {row.get('run')} has other columns than it should")
        for column in numbers:
            try:
                number(row[column])
            except ValueError:
                raise Damaged(f"{path} is damaged: {column} of run {row['run']} is no number, but "
                              f"\"{row[column]}\"") from None
    return rows


def number(text):
    return float(text) if text else math.nan


def read_asked(path):
    """What was asked for: lists by the names of options."""
    try:
        return json.loads(path.read_bytes().decode(errors="replace"))["arguments"]
    except (OSError, ValueError, KeyError, TypeError):
        raise Damaged(f"{path} is not there or damaged: it says what the tables beside it are of") from None


def groups_of(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


class Study:
    """What was asked for, and how runs are called and drawn: alike in all pictures."""

    def __init__(self, folder):
        self.folder = folder
        self.asked = read_asked(folder / "study.json")
        runs = read(folder / "runs.csv", RUN_NUMBERS)
        self.runs = [run for run in runs if run["status"] != "failed"]
        self.colours, self.rests = {}, {}
        self.apart = []  # columns whose values have axes of their own, where lines would be too many
        for column in ("formulation", "rhs", "method"):
            if len({self.label(run, TOLERANCES) for run in self.runs}) > MOST_LINES:
                self.apart.append(column)
        names = groups_of(self.runs, lambda run: (run["mesh"], run["N"], self.label(run)))
        # Numbers of a .geo are sizes of one series, or else series of their own.
        self.sets_differ = any(len({run["set"] for run in some}) > 1 for some in names.values())
        for run in self.runs:
            self.style(run)

    def parts(self, run, leave_out=()):
        parts = []
        for option, column, shown in CHOICES:
            asked = self.asked.get(option) or []
            text = NAMES.get(run[column], run[column])
            if option == "ksp" and any(":" in word for word in asked) and run["restart"]:
                text += f"({run['restart']})"
            differs = len(asked) > 1 or option == "axis" and asked
            if differs and text and column not in (*leave_out, *self.apart):
                parts.append(shown.format(text))
        return parts

    def label(self, run, leave_out=()):
        """What distinguishes the run from the others."""
        return ", ".join(self.parts(run, leave_out)) or ", ".join(
            [NAMES.get(run["preconditioner"], run["preconditioner"]), run["method"]])

    def style(self, run):
        """The first difference is a colour, the others are dashes and markers; one alone is both."""
        first, *rest = self.parts(run, TOLERANCES) or [""]
        colour = self.colours.setdefault(first, len(self.colours))
        other = self.rests.setdefault(tuple(rest), len(self.rests)) if rest else colour
        return {"color": COLOURS[colour % len(COLOURS)], "linestyle": DASHES[other % len(DASHES)],
                "marker": MARKERS[other % len(MARKERS)]}

    def series(self, run):
        """The mesh, whatever its size."""
        name = run["mesh"] if ":" in run["mesh"] else pathlib.PurePath(run["mesh"]).stem
        parts = [name] + [run["set"]] * bool(self.sets_differ and run["set"])
        return ", ".join(parts + [run[column] for column in self.apart])


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
        figure.legend(handles=list(unique.values()), loc="upper center", bbox_to_anchor=(0.5, 0), ncol=columns)
    for ending in ("svg", "png"):
        figure.savefig(folder / f"{name}.{ending}", bbox_inches="tight", metadata={"Date": None} if ending == "svg" else None)
    pyplot.close(figure)


def finest_of(runs):
    finest = max(int(run["N"]) for run in runs)
    return [run for run in runs if int(run["N"]) == finest], finest


def tightest_of(runs):
    tightest = min(float(run["tolerance"]) for run in runs)
    return [run for run in runs if float(run["tolerance"]) == tightest], tightest


def draw_residuals(study, history):
    """Residuals by iteration on the finest mesh of each series: a run to a loose tolerance is the
    beginning of one to a tight one."""
    curves = groups_of(history, lambda row: row["run"])
    groups = groups_of([run for run in study.runs if run["run"] in curves], study.series)
    if not groups:
        return
    figure, axes = panels(len(groups))
    handles = []
    for ax, (name, members) in zip(axes, groups.items()):
        members, finest = finest_of(members)
        members, tightest = tightest_of(members)
        for run in members:
            for points in groups_of(curves[run["run"]], lambda row: row["rhs"]).values():
                handles += ax.semilogy([int(p["iteration"]) for p in points],
                                       [number(p["residual"]) for p in points],
                                       label=study.label(run, TOLERANCES),
                                       markevery=max(1, len(points) // 8), **study.style(run))
        ax.axhline(tightest, color="#888888", linewidth=0.8)
        ax.set(title=f"{name}, N = {finest:,}", xlabel="iteration", ylabel="residual, relative to the first")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylim(bottom=tightest / 10)
    finish(figure, study.folder, "residuals", handles)


def draw_iterations(study):
    """Iterations to the tightest tolerance by N; hollow where it was not reached."""
    groups = groups_of([run for run in study.runs if run["iterations"]], study.series)
    if not groups:
        return
    figure, axes = panels(len(groups))
    handles = []
    for ax, (name, members) in zip(axes, groups.items()):
        members, tightest = tightest_of(members)
        for label, series in groups_of(members, lambda run: study.label(run, ("tolerance",))).items():
            style = study.style(series[0])
            series = sorted(series, key=lambda run: int(run["N"]))
            n, its = [int(run["N"]) for run in series], [int(run["iterations"]) for run in series]
            handles += ax.plot(n, its, label=label, **style)
            missed = [k for k, run in enumerate(series) if run["status"] == "not_converged"]
            ax.plot([n[k] for k in missed], [its[k] for k in missed], linestyle="none",
                    marker=style["marker"], color=style["color"], markerfacecolor="white", zorder=5)
        ax.set(xscale="log", title=name, xlabel="panels N", ylabel=f"iterations to {tightest:g}")
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylim(bottom=0)
    if any(run["status"] == "not_converged" for run in study.runs):
        handles.append(Line2D([], [], color="#555555", marker="o", markerfacecolor="white", linestyle="none",
                              label="not converged"))
    finish(figure, study.folder, "iterations", handles)


def draw_times(study, ax, runs):
    """True residuals by the time of the solve, with its spread."""
    handles = []
    for label, series in groups_of(runs, lambda run: study.label(run, TOLERANCES)).items():
        series = sorted(series, key=lambda run: (-float(run["tolerance"]), -float(run["operator_tolerance"])))
        seconds = [float(run["solve_s"]) for run in series]
        spread = [[s - float(run["solve_s_min"]) for s, run in zip(seconds, series)],
                  [float(run["solve_s_max"]) - s for s, run in zip(seconds, series)]]
        residuals = [float(run["true_residual"]) for run in series]
        handles += ax.plot(seconds, residuals, label=label, **study.style(series[0]))
        ax.errorbar(seconds, residuals, xerr=spread, fmt="none", capsize=2, ecolor=study.style(series[0])["color"])
    ax.set(xscale="log", yscale="log", xlabel="time of the solve (s)", ylabel="true residual")
    return handles


def draw_errors(study, ax, runs):
    """Errors of the potential by the time of everything, over meshes of all sizes."""
    handles = []
    for label, series in groups_of(runs, lambda run: study.label(run, TOLERANCES)).items():
        series = sorted(series, key=lambda run: int(run["N"]))
        handles += ax.plot([float(run["setup_s"]) + float(run["solve_s"]) for run in series],
                           [float(run["error"]) for run in series], label=label, **study.style(series[0]))
    ax.set(xscale="log", yscale="log", xlabel="time of setup and solve (s)", ylabel="error of the potential")
    return handles


def draw_work_precision(study):
    solved = [run for run in study.runs
              if run["solve_s"] and run["true_residual"] and run["status"] != "not_converged"]
    groups = groups_of(solved, study.series)
    erring = {name: [run for run in tightest_of(members)[0] if run["error"]] for name, members in groups.items()}
    erring = {name: members for name, members in erring.items() if len({run["N"] for run in members}) > 1}
    if not groups:
        return
    figure, axes = panels(len(groups) + len(erring), columns=2 if erring else 3)
    handles, axes = [], iter(axes)
    for name, members in groups.items():
        ax = next(axes)
        members, finest = finest_of(members)
        handles += draw_times(study, ax, members)
        ax.set_title(f"{name}, N = {finest:,}")
        if name in erring:
            ax = next(axes)
            handles += draw_errors(study, ax, erring[name])
            sizes = [int(run["N"]) for run in erring[name]]
            ax.set_title(f"{name}, N = {min(sizes):,} to {max(sizes):,}")
    finish(figure, study.folder, "work_precision", handles)


def draw_plane(study, ax, run, rows):
    """The complex plane with the eigenvalues, Ritz values and the field of values of one operator."""
    kinds = groups_of(rows, lambda row: row["kind"])
    handles = []

    def points(kind):
        some = kinds.get(kind, [])
        return [float(row["re"]) for row in some], [float(row["im"]) for row in some]

    x, y = points("field")
    if x:  # symmetric about the real axis
        handles += ax.fill(x + x[::-1], y + [-v for v in y[::-1]], facecolor="#56B4E9", alpha=0.25,
                           edgecolor="#0072B2", linewidth=0.8, label="field of values")
    if "eigenvalue" in kinds:
        handles += ax.plot(*points("eigenvalue"), linestyle="none", marker=".", markersize=3.5,
                           color="#000000", label="eigenvalues")
    if "ritz" in kinds:
        handles += ax.plot(*points("ritz"), linestyle="none", marker="x", markersize=6,
                           color="#D55E00", label="Ritz values")
    ax.plot(0, 0, marker="+", color="#888888", markersize=8)
    singular = [float(row["re"]) for row in kinds.get("singular", [])]
    condition = singular[0] / singular[-1] if singular and singular[-1] > 0 else float(run["condition"] or 0)
    title = f"{study.series(run)}, N = {int(run['N']):,}"
    title += f"\n{study.label(run, ('method', 'rhs', *TOLERANCES))}"
    ax.set_title(title + (f", condition {condition:.3g}" if condition else ""))
    ax.set(xlabel="real part", ylabel="imaginary part")
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    if high - low < 0.04 * (right - left):  # all but on a line
        ax.set_ylim(-0.1 * (right - left), 0.1 * (right - left))
    return handles


def draw_spectrum(study, spectrum):
    by_run = groups_of(spectrum, lambda row: row["run"])
    shown = [run for run in study.runs if run["run"] in by_run]
    # Those with eigenvalues tell most; without any, the Ritz values.
    full = [run for run in shown if any(row["kind"] == "eigenvalue" for row in by_run[run["run"]])]
    most = 12
    shown = (full or shown)[:most]
    if not shown:
        return
    figure, axes = panels(len(shown))
    handles = []
    for ax, run in zip(axes, shown):
        handles += draw_plane(study, ax, run, by_run[run["run"]])
    finish(figure, study.folder, "spectrum", handles)


def main(folder):
    study = Study(pathlib.Path(folder))
    history = read(study.folder / "history.csv", ("run", "rhs", "iteration", "residual"))
    spectrum = read(study.folder / "spectrum.csv", ("run", "re", "im"))
    draw_residuals(study, history)
    draw_iterations(study)
    draw_work_precision(study)
    draw_spectrum(study, spectrum)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Damaged as error:
        print(error, file=sys.stderr)
        sys.exit(2)
