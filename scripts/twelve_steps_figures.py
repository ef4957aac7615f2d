#!/usr/bin/env python3
"""The figures of docs/twelve-steps.md, into docs/images: twelve_steps_figures.py FOLDER."""

import math
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

NEAR, LIST = "#D55E00", "#56B4E9"
pyplot.rcParams.update({"font.size": 9, "svg.hashsalt": "fmbem", "svg.fonttype": "none",
                        "figure.constrained_layout.use": True})


def draw_boxes(path):
    """What acts on a box of level 4, in two dimensions, and what its ancestors have had."""
    figure, axes = pyplot.subplots(figsize=(4.6, 3.6))
    target = (5, 9)
    for level in (2, 3, 4):
        n, here = 2**level, [c >> (4 - level) for c in target]
        side = 1 / n
        for x in range(n):
            for y in range(n):
                parents = max(abs(x // 2 - here[0] // 2), abs(y // 2 - here[1] // 2))
                away = max(abs(x - here[0]), abs(y - here[1]))
                if parents > 1:
                    continue  # a coarser level has it
                if away > 1:
                    axes.add_patch(Rectangle((x * side, y * side), side, side, facecolor=LIST,
                                             alpha=0.25 + 0.2 * (level - 2), edgecolor="white"))
                elif level == 4:
                    axes.add_patch(Rectangle((x * side, y * side), side, side, facecolor=NEAR,
                                             alpha=1 if away == 0 else 0.5, edgecolor="white"))
    for label, colour, alpha in (("the box: L2P", NEAR, 1), ("touch it: P2P", NEAR, 0.5), ("M2L, its level", LIST, 0.65),
                                 ("M2L, its parent's level", LIST, 0.45), ("M2L, level 2", LIST, 0.25)):
        axes.add_patch(Rectangle((9, 9), 1, 1, facecolor=colour, alpha=alpha, label=label))
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=[], yticks=[])
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(path, metadata={"Date": None})


def draw_errors(path):
    """One charge at the radius θ, seen from the distance 1: the series of Legendre polynomials."""
    figure, axes = pyplot.subplots(figsize=(4.6, 3))
    for theta, colour in ((0.3, "#0072B2"), (0.5, "#D55E00"), (0.7, "#009E73")):
        worst, bound, orders = [], [], range(0, 25)
        for p in orders:
            cosines = [math.cos(math.pi * k / 40) for k in range(41)]
            error = 0.0
            for c in cosines:
                low, here, series = 0.0, 1.0, 0.0
                for n in range(p + 1):
                    series += theta**n * here
                    low, here = here, ((2 * n + 1) * c * here - n * low) / (n + 1)
                error = max(error, abs(1 / math.sqrt(1 - 2 * theta * c + theta**2) - series))
            worst.append(max(error, 1e-16))
            bound.append(theta**(p + 1) / (1 - theta))
        axes.semilogy(orders, worst, "o", color=colour, markersize=3, label=f"θ = {theta}, worst angle")
        axes.semilogy(orders, bound, "-", color=colour, linewidth=1, label="bound")
    axes.set(xlabel="order p", ylabel="error of 1/r")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.legend(frameon=False, ncols=1, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    draw_boxes(folder / "twelve-steps-boxes.svg")
    draw_errors(folder / "twelve-steps-errors.svg")
