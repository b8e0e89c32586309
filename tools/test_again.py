"""Tells the scenes that failed once more, one program at a time and with nothing beside it.

A story starts real processes and waits for them on a machine that others share: one that fails because it came too late
says nothing about Garner. One that fails twice does. What passes only now is named by test_summary.py, for somebody to look at.
"""

import os
import pathlib
import subprocess
import sys

import test_summary


def main():
    build, folder = map(pathlib.Path, sys.argv[1:])
    results = folder / "again"
    for program, names in test_summary.failed_programs(folder):
        if not program.startswith("story"):
            continue
        results.mkdir(exist_ok=True)
        print(f"once more: {program} {' '.join(names)}", flush=True)
        environment = os.environ | {"GTEST_OUTPUT": f"json:{results}/", "GTEST_BRIEF": "1"}
        command = [build / program] + ([f"--gtest_filter={':'.join(names)}"] if names else [])
        try:
            ended = subprocess.run(command, cwd=build, env=environment, timeout=600).returncode
        except subprocess.TimeoutExpired:
            ended = "too late"
        (results / f"{program}.ended").write_text(f"{ended}\n")


main()
