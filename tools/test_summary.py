"""Adds up the results of run_tests.py and ends with one line: N passed, N failed.

--write-times writes the times of the long tests to a file, by which a first run orders them.

A test that failed and then passed alone counts as passed and as flaky. More than `flaky_most` flaky tests in a run are a
failure; disturbed ones are only named. --units prints the slowest units, too: each argument is a ninja log and the line at which
this run began.
"""

import argparse
import collections
import json
import pathlib
import sys

flaky_most = 3
slowest_most = 10
long_seconds = 2.0


def slowest_units(logs):
    """The ten slowest units as (seconds, preset, unit)."""
    units = []
    for log, begin in logs:
        for line in log.read_text().splitlines()[begin:]:
            fields = line.split("\t")
            if len(fields) >= 4 and fields[3].endswith(".o"):
                units.append(((int(fields[1]) - int(fields[0])) / 1000, log.parent.name, fields[3]))
    return sorted(set(units), reverse=True)[:slowest_most]


def slowest_tests(runs):
    tests = [(one["seconds"], name, test) for name, run in runs.items() for program in run["tests"].values()
             for test, one in program.items()]
    return sorted(tests, reverse=True)[:slowest_most]


def write_times(runs, file):
    """The longest time of each long test, whole tenths of a second, so that few lines change."""
    times = collections.defaultdict(dict)
    for run in runs.values():
        for program, tests in run["tests"].items():
            for test, one in tests.items():
                if one["seconds"] >= long_seconds and not program.startswith("fuzz_"):
                    times[program][test] = max(times[program].get(test, 0.0), round(one["seconds"], 1))
    file.write_text(json.dumps(times, indent=1, sort_keys=True) + "\n")


def print_slowest(title, rows):
    print(f"slowest {title}:")
    for seconds, where, what in rows:
        print(f"  {seconds:7.1f} s  {where}  {what}")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--broken", type=int, default=0, help="presets without results; each is one failure")
    arguments.add_argument("--times", action="store_true")
    arguments.add_argument("--write-times", type=pathlib.Path)
    arguments.add_argument("--units", action="append", default=[], metavar="NINJA_LOG:LINE")
    arguments.add_argument("reports", nargs="*", type=pathlib.Path)
    chosen = arguments.parse_args()

    all_results = collections.Counter(failed=chosen.broken)
    flaky = 0
    runs = {report.stem: json.loads(report.read_text()) for report in chosen.reports if report.exists()}
    for name, run in runs.items():
        results = collections.Counter(one["result"] for program in run["tests"].values() for one in program.values())
        all_results += results
        flaky += len(run["flaky"])
        print(f"{name}: {results['passed']} passed, {results['failed']} failed, {run['seconds']:.0f} s, "
              f"{sum(run['processor'].values()):.0f} s of processor time")
        for test in run["flaky"]:
            print(f"  flaky (failed, then passed by itself; both logs are above): {test}")
        for test in run["disturbed"]:
            print(f"  disturbed (failed while the machine stood still, then passed; both logs are above): {test}")
        for program, tests in run["tests"].items():
            for test, one in tests.items():
                if one["result"] in ("failed", "skipped"):
                    print(f"  {'failed' if one['result'] == 'failed' else 'NOT TESTED'}: {program} {test}")
    lost = len(chosen.reports) - len(runs)
    all_results["failed"] += lost
    if lost:
        print(f"{lost} runs left no results")
    if flaky > flaky_most:
        all_results["failed"] += 1
        print(f"failed: {flaky} flaky tests in one run; at most {flaky_most} are accepted")
    if chosen.write_times:
        write_times(runs, chosen.write_times)
    if chosen.times:
        logs = [one.rpartition(":") for one in chosen.units]
        print_slowest("units", slowest_units([(pathlib.Path(log), int(line)) for log, _, line in logs]))
        print_slowest("tests", slowest_tests(runs))
    skipped = f", {all_results['skipped']} skipped" if all_results["skipped"] else ""
    print(f"{all_results['passed']} passed, {all_results['failed']} failed{skipped}")
    sys.exit(1 if all_results["failed"] or not all_results["passed"] else 0)


if __name__ == "__main__":
    main()
