#!/usr/bin/env python3
"""Tables of docs/papers.md of reports of fmbem-bench-fmm (its option --json) from a GPU:
gpu_tables.py FOLDER third-law|unequal REPORT.json... --machine NAME --commit HASH --date DATE.

third-law: papers_third_law_gpu.csv and its picture, of runs with --third-law on and off over the
points of a box (Shan and Lei, table III). unequal: papers_unequal_gpu.csv, of clouds and their ratio
to the cube.
"""

import argparse
import json
import pathlib

from nbody_runs import write_rows
from papers import draw_third_law


def command_of(row, *words):
    return " ".join(("fmbem-bench-fmm --backend cuda --points", str(row["points"]), *words))


def third_law(folder, rows, provenance):
    """Milliseconds of P2P over the points of a box, plain and by Newton's third law."""
    table = []
    for plain in (row for row in rows if not row["third_law"]):
        key = ("precision", "outputs", "points", "max_leaf")
        mutual = next(row for row in rows if row["third_law"] and all(row[k] == plain[k] for k in key))
        boxes = 8 ** (plain["levels"] - 1)
        milliseconds = [1e3 * row["seconds"]["stages"]["P2P"] for row in (plain, mutual)]
        table.append({
            "precision": plain["precision"], "outputs": plain["outputs"], "boxes": boxes,
            "points_a_box": plain["points"] // boxes, "near_pairs": plain["near_pairs"],
            "plain_ms": f"{milliseconds[0]:.4g}", "third_law_ms": f"{milliseconds[1]:.4g}",
            "gain": f"{milliseconds[0] / milliseconds[1]:.2f}",
            "more_memory_MiB": (mutual["memory_bytes"] - plain["memory_bytes"]) >> 20,
            "command": command_of(plain, "--distribution cube --inflation 1 --order 4 --repeat 3 --check 0",
                                  f"--max-leaf {plain['max_leaf']} --precision {plain['precision']}",
                                  f"--outputs {plain['outputs']} --tolerance {plain['tolerance']:g}",
                                  "--third-law on (or off)")} | provenance)
    table.sort(key=lambda row: (row["outputs"] != "potential", row["precision"] != "single", row["points_a_box"]))
    write_rows(folder / "papers_third_law_gpu.csv", table)
    draw_third_law(folder, folder)


def unequal(folder, rows, provenance):
    """Milliseconds of an evaluation of each cloud, and to that of the cube."""
    cube = {row["tolerance"]: row["seconds"]["evaluate"] for row in rows if row["distribution"] == "cube"}
    write_rows(folder / "papers_unequal_gpu.csv", [
        {"cloud": row["distribution"], "tolerance": f"{row['tolerance']:g}"}
        | {key: row[key] for key in ("points", "method", "order", "max_leaf", "levels", "near_pairs", "m2l_rows")}
        | {"plan_ms": f"{1e3 * row['seconds']['plan']:.4g}", "evaluate_ms": f"{1e3 * row['seconds']['evaluate']:.4g}",
           "to_cube": f"{row['seconds']['evaluate'] / cube[row['tolerance']]:.2f}",
           "error": f"{row['error_potential']:.2e}",
           "command": command_of(row, f"--distribution {row['distribution']} --tolerance {row['tolerance']:g}",
                                 f"--method automatic --repeat {row['repeat']} --check {row['check']}")} | provenance
        for row in sorted(rows, key=lambda row: -row["tolerance"])])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("table", choices=("third-law", "unequal"))
    parser.add_argument("reports", nargs="+", type=pathlib.Path)
    for of_reports in ("--machine", "--commit", "--date"):
        parser.add_argument(of_reports, default="", help="of the reports")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    all_rows = [row for report in given.reports for row in json.loads(report.read_text(encoding="utf-8"))]
    {"third-law": third_law, "unequal": unequal}[given.table](
        given.folder, all_rows, {"machine": given.machine, "date": given.date, "commit": given.commit})
