"""Adds up what the test programs wrote, and ends with one line: N passed, N failed.

Each folder holds ctest.xml, and one JSON file from every GoogleTest program that lived to its end. A program that
failed without a failed test in its file (a crash, a leak, a time-out) counts as one failure of its own.
"""

import argparse
import json
import pathlib
import sys
import xml.etree.ElementTree as xml


def cases(report):
    for suite in report["testsuites"]:
        for case in suite["testsuite"]:
            yield f"{suite['name']}.{case['name']}", case


def add_up(folder):
    """The folder's passed and skipped tests, and the names of the failed ones."""
    passed, skipped, failed = 0, 0, []
    for program in xml.parse(folder / "ctest.xml").iter("testcase"):
        name = program.get("name")
        lived = folder / f"{name}_test.json"
        failed_here = []
        if lived.exists():
            for case_name, case in cases(json.loads(lived.read_text())):
                if case["status"] == "NOTRUN":
                    continue
                if case.get("failures"):
                    failed_here.append(case_name)
                elif case["result"] == "SKIPPED":
                    skipped += 1
                else:
                    passed += 1
        if program.get("status") != "run" and not failed_here:
            failed_here.append(f"{name}_test (its output is above)")
        failed += failed_here
    return passed, skipped, failed


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--broken", type=int, default=0, help="presets without results; each is one failure")
    arguments.add_argument("folders", nargs="*", type=pathlib.Path)
    chosen = arguments.parse_args()

    passed, skipped, failed = 0, 0, chosen.broken
    for folder in chosen.folders:
        if not (folder / "ctest.xml").exists():
            continue
        sums = add_up(folder)
        passed, skipped, failed = passed + sums[0], skipped + sums[1], failed + len(sums[2])
        print(f"{folder.parent.name}, {folder.name}: {sums[0]} passed, {len(sums[2])} failed")
        for name in sums[2]:
            print(f"  failed: {name}")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failed or not passed else 0)


main()
