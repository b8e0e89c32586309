"""Runs test programs in many small processes side by side, and prints progress.

run_tests.py --results FOLDER [--jobs N] {--name NAME [--environment NAME=VALUE]... [--filter REGEX] [--without REGEX] PROGRAM...}...

Each --name begins a run: programs with an environment, filters and a report of their own. The tests of a GoogleTest program are
divided into packets of about `packet_seconds`, by the times of an earlier run, or by tests/times.json without one. A fuzzer is a
packet by itself. The packets of all runs share one queue, the longest first: while the tests of one run wait, those of another
work. Scenes mostly wait, so more packets are started as long as the processors have time. A failed test runs again alone after all
others, and both logs are kept and printed. If it passes then, it counts as flaky (test_summary.py limits their number), or as
disturbed if the whole machine stood still during its first run: this process, which looks every 30 ms, did not run for seconds.

For each run FOLDER/NAME.json gets {"tests": {"program": {"Suite.test": {"result", "seconds"}}}, "flaky": [...], "disturbed": [...],
"seconds": ..., "processor": {"program": seconds}}.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

packet_seconds = 8.0
unknown_seconds = {"story": 1.5}      # by the program's first word; else:
unknown_otherwise = 0.3
tests_most = 60                       # of a packet: so many names fit in a command line, and few repeat after a crash
wanted_threads = 1.8                  # that run or could run, for each processor: above it nothing more is begun
time_limit = 600.0                    # seconds of a packet
progress_every = 15.0
standstill = 3.0                      # seconds without a look; a scene waits 20 s at most, a unit test may measure 1 s


class TestRun:
    """Programs that run in one environment, and the results of their tests."""

    def __init__(self, name, environment):
        self.name, self.environment = name, environment
        self.results, self.flaky, self.disturbed, self.processor = {}, [], [], {}
        self.begun = self.ended = None

    def failed_packets(self):
        for tests in self.results.values():
            for test, result in tests.items():
                if result["result"] == "failed":
                    yield Packet(self, pathlib.Path(result["path"]), [test], result["seconds"], again=True)

    def write(self, file):
        seconds = self.ended - self.begun if self.ended else 0.0
        file.write_text(json.dumps({"tests": self.results, "flaky": self.flaky, "disturbed": self.disturbed, "seconds": seconds,
                                    "processor": self.processor}, indent=1))


class Packet:
    def __init__(self, run, program, tests, expected, again=False):
        self.run, self.program, self.tests, self.expected, self.again = run, program, tests, expected, again

    def name(self):
        first = self.tests[0]
        return f"{self.run.name} {self.program.name} {first}" + (f" and {len(self.tests) - 1} more" if len(self.tests) > 1 else "")


def is_fuzzer(program):
    return program.name.startswith("fuzz_")


def list_tests(program):
    listed = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True, timeout=120).stdout
    tests, suite = [], ""
    for line in listed.splitlines():
        word = line.split("#")[0].strip()
        if line.startswith("  "):
            if "DISABLED_" not in suite + word:
                tests.append(suite + word)
        elif word.endswith("."):
            suite = word
    return tests


def cut_into_packets(run, program, tests, known):
    """Divides the tests in the order of the file: neighbours share a fixture."""
    guess = unknown_seconds.get(program.name.split("_")[0], unknown_otherwise)
    packets, chosen, seconds = [], [], 0.0
    for test in tests:
        cost = known.get(program.name, {}).get(test, guess)
        if chosen and (seconds + cost > packet_seconds or len(chosen) == tests_most):
            packets.append(Packet(run, program, chosen, seconds))
            chosen, seconds = [], 0.0
        chosen.append(test)
        seconds += cost
    if chosen:
        packets.append(Packet(run, program, chosen, seconds))
    return packets


class Running:
    """One process with its output and its report in files."""

    def __init__(self, packet, folder):
        self.packet, self.begun = packet, time.monotonic()
        self.late = False
        self.processor = 0.0   # seconds
        self.report = pathlib.Path(tempfile.mkstemp(dir=folder, suffix=".json")[1])
        self.report.unlink()
        self.log = open(self.report.with_suffix(".log"), "w+b")
        command, environment = self.command()
        self.process = subprocess.Popen(command, cwd=packet.program.parent, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True)

    def command(self):
        program, environment = self.packet.program, os.environ | self.packet.run.environment
        if is_fuzzer(program):
            return fuzzer_command(program), environment
        return ([program, f"--gtest_filter={':'.join(self.packet.tests)}"],
                environment | {"GTEST_OUTPUT": f"json:{self.report}", "GTEST_BRIEF": "1", "GARNER_NEED_REAL": "1"})

    def seconds(self):
        return time.monotonic() - self.begun

    def has_ended(self):
        if self.seconds() > time_limit and not self.late:
            self.late = True
            self.kill_all()
        return self.wait(os.WNOHANG)

    def wait(self, how=0):
        """True when the process has ended. Its processor time counts all that it started and waited for."""
        if self.process.returncode is None:
            pid, status, used = os.wait4(self.process.pid, how)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.processor = used.ru_utime + used.ru_stime
        return self.process.returncode is not None

    def kill_all(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def end(self):
        self.kill_all()
        self.wait()

    def text(self):
        self.log.flush()
        return self.report.with_suffix(".log").read_text(errors="replace")

    def results(self):
        """The result of each test (passed, skipped or failed) and its seconds. Without a report all have failed."""
        ended_well = self.process.returncode == 0
        if is_fuzzer(self.packet.program):
            return {self.packet.tests[0]: ("passed" if ended_well else "failed", self.seconds())}
        found = {}
        if self.report.exists():
            for suite in json.loads(self.report.read_text())["testsuites"]:
                for case in suite["testsuite"]:
                    result = "failed" if case.get("failures") else "skipped" if case["result"] == "SKIPPED" else "passed"
                    if case["status"] != "NOTRUN":
                        found[f"{suite['name']}.{case['name']}"] = (result, float(case["time"].rstrip("s")))
        missing = {test: ("failed", self.seconds()) for test in self.packet.tests if test not in found}
        found |= missing
        # A sanitizer may report an error at the end of the process, after all tests have passed.
        if not ended_well and not any(result == "failed" for result, _ in found.values()):
            found = {test: ("failed", seconds) for test, (_, seconds) in found.items()}
        return found


def fuzzer_command(program):
    name = program.name.removeprefix("fuzz_").removesuffix("_test")
    corpus = program.parent / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fuzz" / "seeds" / name
    return [program, "-max_total_time=1", "-print_final_stats=0", corpus, seeds]


class Load:
    """How many threads run or could run, averaged over about half a second. Scenes that wait count for nothing."""

    def __init__(self):
        self.threads = 0.0

    def look(self):
        for line in open("/proc/stat"):
            if line.startswith("procs_running"):
                self.threads += (int(line.split()[1]) - self.threads) / 16

    def has_room(self):
        return self.threads < wanted_threads * (os.cpu_count() or 1)


class Queue:
    """The packets of all runs. Runs as many at a time as the processors have time for."""

    def __init__(self, jobs, folder):
        self.jobs, self.folder = jobs, folder
        self.running = []
        self.load = Load()
        self.done = self.total = 0
        self.spoke = self.looked = self.stood_still = time.monotonic()   # the last: the end of the last standstill

    def all(self, runs, packets):
        self.total = sum(len(packet.tests) for packet in packets)
        self.through(sorted(packets, key=lambda packet: -packet.expected), self.jobs)
        # Failed packets run again, one at a time.
        self.through([packet for run in runs for packet in run.failed_packets()], 1)
        self.say("done")

    def through(self, waiting, jobs):
        waiting = list(waiting)
        try:
            while waiting or self.running:
                self.note_standstill()
                self.load.look()
                processors = os.cpu_count() or 1
                if waiting and (len(self.running) < min(jobs, processors) or len(self.running) < jobs and self.load.has_room()):
                    self.running.append(Running(waiting.pop(0), self.folder))
                self.speak_now_and_then()
                ended = [one for one in self.running if one.has_ended()]
                self.running = [one for one in self.running if one not in ended]
                self.note_standstill()   # they may have failed in it
                for one in ended:
                    self.take(one)
                time.sleep(0.03)
        finally:
            for one in self.running:
                one.end()

    def note_standstill(self):
        before, self.looked = self.looked, time.monotonic()
        if self.looked - before >= standstill:
            self.stood_still = self.looked
            self.say(f"the machine stood still for {self.looked - before:.1f} s")

    def take(self, one):
        packet, results = one.packet, one.results()
        one.end()   # what the program left behind
        run = packet.run
        run.begun, run.ended = run.begun or one.begun, time.monotonic()
        run.processor[packet.program.name] = run.processor.get(packet.program.name, 0.0) + one.processor
        kept = run.results.setdefault(packet.program.name, {})
        for test, (result, seconds) in results.items():
            if packet.again and result != "failed":
                first = kept[test]["log"]
                (run.disturbed if kept[test]["disturbed"] else run.flaky).append(f"{packet.program.name} {test}")
                print(f"== {run.name}: {test} failed, and passed when it ran again by itself; the log of the first run:\n"
                      f"{first}\n== the log of the second run:\n{one.text()}", flush=True)
            elif result == "failed" and not packet.again:
                kept[test] = {"log": one.text()[-30_000:], "disturbed": self.stood_still > one.begun}
            entry = kept.setdefault(test, {})
            entry |= {"result": result, "seconds": round(seconds, 3), "path": str(packet.program)}
        self.done += 0 if packet.again else len(packet.tests)
        failed = [test for test, (result, _) in results.items() if result == "failed"]
        if failed:
            why = f" after {time_limit:.0f} s without an end" if one.late else f", exit code {one.process.returncode}"
            print(f"== {run.name}: FAILED {'again: ' if packet.again else ''}{' '.join(failed)}{why}", flush=True)
            if packet.again:
                print(one.text()[-30_000:], flush=True)

    def speak_now_and_then(self):
        if time.monotonic() - self.spoke >= progress_every:
            longest = max(self.running, key=Running.seconds, default=None)
            self.say(f"waiting for {longest.packet.name()} ({longest.seconds():.0f} s)" if longest else "")

    def say(self, what):
        self.spoke = time.monotonic()
        print(f"== {self.done} of {self.total} tests; {what}", flush=True)


def usual_times():
    """The times of the long tests, as written last by GARNER_WRITE=1 tools/test."""
    return json.loads((pathlib.Path(__file__).resolve().parent.parent / "tests" / "times.json").read_text())


def take_times(report):
    """The times of an earlier run, by program and test. Moves its report away, so that it is not taken for that of this run."""
    earlier = report.with_suffix(".earlier")
    if report.exists():
        report.rename(earlier)
    if not earlier.exists():
        return usual_times()
    tests = json.loads(earlier.read_text())["tests"]
    return {program: {test: one["seconds"] for test, one in ones.items()} for program, ones in tests.items()}


def assignment(text):
    name, _, value = text.partition("=")
    return name, value


def runs_of(words):
    """The options of each run: from one --name to the next."""
    arguments = argparse.ArgumentParser(prog="run_tests.py ... --name")
    arguments.add_argument("name")
    arguments.add_argument("--environment", action="append", default=[], type=assignment, metavar="NAME=VALUE")
    arguments.add_argument("--filter", default="", help="regular expression; runs only tests whose Suite.test matches")
    arguments.add_argument("--without", default="", help="regular expression; leaves out tests whose Suite.test matches")
    arguments.add_argument("programs", nargs="+", type=pathlib.Path)
    begins = [place for place, word in enumerate(words) if word == "--name"]
    return [arguments.parse_intermixed_args(words[begin + 1:end]) for begin, end in zip(begins, begins[1:] + [len(words)])]


def packets_of(run, chosen, known):
    packets = []
    for program in (one.resolve() for one in chosen.programs):
        if is_fuzzer(program):
            packets.append(Packet(run, program, [program.name], 2.0))
            continue
        tests = [test for test in list_tests(program) if re.search(chosen.filter, test)
                 and not (chosen.without and re.search(chosen.without, test))]
        packets += cut_into_packets(run, program, tests, known)
    if not packets:
        sys.exit(f"run_tests: no test of {' '.join(map(str, chosen.programs))} matches {chosen.filter!r}")
    return packets


def main():
    arguments = argparse.ArgumentParser(epilog="then, once or more: --name NAME [--environment NAME=VALUE] [--filter REGEX] "
                                                "[--without REGEX] PROGRAM...")
    arguments.add_argument("--results", type=pathlib.Path, required=True)
    arguments.add_argument("--jobs", type=int, default=6 * (os.cpu_count() or 1), help="maximum number of processes")
    words = sys.argv[1:]
    first = words.index("--name") if "--name" in words else len(words)
    common, chosen = arguments.parse_args(words[:first]), runs_of(words[first:])
    if not chosen:
        arguments.error("no run: say --name NAME PROGRAM...")

    common.results.mkdir(parents=True, exist_ok=True)
    runs, packets = {}, []
    for one in chosen:
        report = common.results / f"{one.name}.json"
        runs[report] = TestRun(one.name, dict(one.environment))
        packets += packets_of(runs[report], one, take_times(report))
    with tempfile.TemporaryDirectory() as folder:
        Queue(common.jobs, pathlib.Path(folder)).all(runs.values(), packets)
    for report, run in runs.items():
        run.write(report)
    sys.exit(any(True for run in runs.values() for _ in run.failed_packets()))


if __name__ == "__main__":
    main()
