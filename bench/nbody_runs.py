"""Runs of fmbem nbody, for tables. FMBEM_PROGRAM names the program, or PATH has it.

seconds_of() has times of the processor with one thread, by the difference of runs with many evaluations and with one,
so that a machine that others share serves as well.
"""

import csv
import datetime
import json
import os
import subprocess
import tempfile

PROGRAM = os.environ.get("FMBEM_PROGRAM", "fmbem")


def report_of(words):
    """The report of a run, and its processor seconds."""
    command = [PROGRAM, "nbody", *map(str, words)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        process = subprocess.Popen([*command, "--json", "-"], stdout=out, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise SystemExit(f"{' '.join(command)}: {said.read()}")
        out.seek(0)
        report = json.load(out)
    return report["nbody"] | {"commit": report["run"]["commit"]}, usage.ru_utime


def nbody(words, repeats=1):
    """The same with one thread."""
    return report_of([*words, "--repeats", repeats, "--threads", 1])


def seconds_of(words, busy):
    """Processor seconds of one evaluation, measured for about `busy` seconds."""
    first, once = nbody([*words, "--check", "0"])
    more = max(2, min(1000, round(busy / max(first["evaluate_s"], 1e-4))))
    return max(nbody([*words, "--check", "0"], 1 + more)[1] - once, 0) / more


def provenance(words, result):
    """The last columns of a row: how, when and of what it was measured."""
    return {"command": "fmbem nbody " + " ".join(words),
            "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(), "commit": result["commit"]}


def write_rows(file, rows):
    """Writes rows as they come, and prints what is measured of them; all of them."""
    written = []
    with file.open("w", newline="", encoding="utf-8") as stream:
        table = None
        for row in rows:
            if table is None:
                table = csv.DictWriter(stream, list(row), lineterminator="\n")
                table.writeheader()
            table.writerow(row)
            stream.flush()
            print(*list(row.values())[:-3], flush=True)
            written.append(row)
    return written
