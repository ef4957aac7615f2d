"""Runs of fmbem nbody, for tables. FMBEM_PROGRAM names the program, or PATH has it.

seconds_of() has times of the processor with one thread, by the difference of runs with many evaluations and with one,
so that a machine that others share serves as well. FMBEM_MACHINE says what rows are to say of the machine; if it is
not set, they have the processor's name.
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


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "not recorded")


def measured(command, commit):
    """The last columns of a row: how, where, when and of what it was measured."""
    return {"command": " ".join(map(str, command)), "machine": os.environ.get("FMBEM_MACHINE") or processor(),
            "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(), "commit": commit}


def provenance(words, result):
    return measured(["fmbem nbody", *words], result["commit"])


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
            print(*list(row.values())[:-4], flush=True)
            written.append(row)
    return written
