"""Adds up what the test programs wrote, and ends with one line: N passed, N failed.

Each folder holds ctest.xml, and one JSON file from every GoogleTest program that lived to its end; in `again` those of
the programs that were told once more (test_again.py). A program that failed without a failed test in its file (a crash,
a leak, a time-out) counts as one failure of its own.
"""

import argparse
import json
import pathlib
import sys
import xml.etree.ElementTree as xml


def cases(folder, program):
    """By name; nothing when the program did not live to its end."""
    report = folder / f"{program}.json"
    if not report.exists():
        return {}
    suites = json.loads(report.read_text())["testsuites"]
    every = {f"{suite['name']}.{case['name']}": case for suite in suites for case in suite["testsuite"]}
    return {name: case for name, case in every.items() if case["status"] != "NOTRUN"}


def programs(folder):
    """The name of each, and whether it ended well."""
    for test in xml.parse(folder / "ctest.xml").iter("testcase"):
        yield f"{test.get('name')}_test", test.get("status") == "run"


def failed_programs(folder):
    """Those that failed, each with the names of its failed tests, as far as they are known."""
    for program, ended_well in programs(folder):
        names = [name for name, case in cases(folder, program).items() if case.get("failures")]
        if names or not ended_well:
            yield program, names


def passed_again(folder, program, names):
    ended = folder / "again" / f"{program}.ended"
    if not ended.exists() or ended.read_text().strip() != "0":
        return False
    return set(names) <= set(cases(folder / "again", program))


class Sum:
    def __init__(self):
        self.passed, self.skipped, self.failed, self.late = 0, 0, [], []


def add_up(folder):
    sum = Sum()
    failed = dict(failed_programs(folder))
    for program, _ in programs(folder):
        known = cases(folder, program)
        for name, case in known.items():
            sum.skipped += case["result"] == "SKIPPED"
            sum.passed += case["result"] != "SKIPPED" and not case.get("failures")
        if program not in failed:
            continue
        names = failed[program]
        if passed_again(folder, program, names):
            sum.passed += len(names) if known else len(cases(folder / "again", program))
            sum.late += names or [program]
        else:
            sum.failed += names or [f"{program} (its output is above)"]
    return sum


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--broken", type=int, default=0, help="presets without results; each is one failure")
    arguments.add_argument("folders", nargs="*", type=pathlib.Path)
    chosen = arguments.parse_args()

    passed, skipped, failed = 0, 0, chosen.broken
    for folder in chosen.folders:
        if not (folder / "ctest.xml").exists():
            continue
        sum = add_up(folder)
        passed, skipped, failed = passed + sum.passed, skipped + sum.skipped, failed + len(sum.failed)
        print(f"{folder.parent.name}, {folder.name}: {sum.passed} passed, {len(sum.failed)} failed")
        for name in sum.late:
            print(f"  passed only when told once more, alone: {name}")
        for name in sum.failed:
            print(f"  failed: {name}")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
