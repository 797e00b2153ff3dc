"""Which tests reach which lines of the runtime, and how long each test takes.

The runtime is compiled once more, with a mark at each basic block (reached.c), nothing inlined or optimised;
each test then runs alone. The debug information says which lines a block has.
"""
import bisect
import concurrent.futures
import os
import re
import subprocess
import tempfile
import time

import children

GRAIN = 4  # of reached.c
SECONDS_MAX = 600  # of a test without a mutation, on a busy machine
MARKS = ["-fsanitize-coverage=bb,no-prune,trace-pc-guard", "-O0", "-g1", "-fno-inline"]
MARK_SIZE = 12  # bytes of code before the address to which a mark returns
NEAR, LEAST = 25, 1e-6  # lines; a test's weight at least
FAVOUR = 8
SLOWER, SLOWEST_START = 8, 6  # a test on a busy machine, with a mutation that makes it wait


class Reached:
    def __init__(self):
        self.seconds, self.tests_of, self.lines_of = {}, {}, {}

    def add(self, test, seconds, lines):
        self.seconds[test] = seconds
        for line in lines:
            self.tests_of.setdefault(line, set()).add(test)

    def know(self, lines):
        """All lines of the code, reached or not."""
        for name, number in lines:
            self.lines_of.setdefault(name, []).append(number)
        for numbers in self.lines_of.values():
            numbers.sort()

    def tests(self, name, number):
        """Those that reach a line, or the one above it that has code: a statement may have several."""
        known = self.lines_of.get(name, [])
        at = bisect.bisect_right(known, number)
        return self.tests_of.get((name, known[at - 1]), set()) if at else set(self.seconds)

    def limit(self, test):
        """Seconds after which a test hangs."""
        return int(SLOWEST_START + SLOWER * self.seconds[test])

    def within(self, tests, seconds):
        """How many of them run in so many seconds; at least one."""
        count, used = 0, 0
        while count < len(tests) and used < seconds:
            used += self.seconds[tests[count]]
            count += 1
        return count

    def plan(self, name, number, favoured):
        """The tests that reach a line, the fastest first, and those that reach rarely reached lines near it;
        those in `favoured` count as faster than they are."""
        tests = self.tests(name, number)
        rare = dict.fromkeys(tests, LEAST)
        for near in range(number - NEAR, number + NEAR + 1):
            those = self.tests_of.get((name, near), ())
            for test in tests.intersection(those):
                rare[test] += 1 / len(those)
        return sorted(tests, key=lambda t: self.seconds[t] / rare[t] / (FAVOUR if t in favoured else 1))


def said(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def rows_of(program, folder):
    """(address, file below the folder, line), in the order of the addresses."""
    found, files, place = [], {}, re.compile(r"^0x([0-9a-f]+)\s+(\d+)\s+\d+\s+(\d+)")
    names, folders = {}, {}
    for line in said("llvm-dwarfdump-19", "--debug-line", program).splitlines():
        if line.startswith("debug_line["):
            names, folders, files = {}, {}, {}
        elif m := re.match(r'include_directories\[ *(\d+)\] = "(.*)"', line):
            folders[m.group(1)] = m.group(2)
        elif m := re.match(r"file_names\[ *(\d+)\]:", line):
            number = m.group(1)
        elif m := re.match(r'\s+name: "(.*)"', line):
            names[number] = m.group(1)
        elif m := re.match(r"\s+dir_index: (\d+)", line):
            path = os.path.join(folders.get("0", folder), folders.get(m.group(1), ""), names[number])
            files[number] = os.path.relpath(os.path.normpath(path), folder)
        elif (m := place.match(line)) and m.group(3) in files:
            found.append((int(m.group(1), 16), files[m.group(3)], int(m.group(2))))
    return sorted(found)


def blocks_of(program, folder):
    """(where the program starts, the address of each mark, the lines of its block)."""
    start = int(re.search(r"^([0-9a-f]+) \w __executable_start$", said("nm", program), re.M).group(1), 16)
    calls = re.findall(r"call\w*\s.*<__sanitizer_cov_trace_pc_guard>\n\s*([0-9a-f]+):",
                       said("llvm-objdump-19", "-d", "--no-show-raw-insn", program))
    marks, rows = sorted(int(c, 16) for c in calls), rows_of(program, folder)
    addresses = [r[0] for r in rows]
    lines = []
    for mark, following in zip(marks, marks[1:] + [addresses[-1] + MARK_SIZE]):
        first = bisect.bisect_right(addresses, mark) - 1
        last = max(first + 1, bisect.bisect_left(addresses, following - MARK_SIZE))
        lines.append({row[1:] for row in rows[first:last] if row[2]})
    return start, marks, lines


def measure(program, folder, jobs, names=""):
    """Runs every test of a program that is linked with reached.c, so many at a time; of these names."""
    start, marks, lines = blocks_of(program, folder)
    block_at = {(mark - start) // GRAIN: lines[i] for i, mark in enumerate(marks)}
    tests = [test for test in said(program, "--all-ways", "--list").splitlines() if re.search(names, test)]

    def run(test):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            held, plan = os.path.join(place, "marks"), os.path.join(place, "plan")
            with open(plan, "w") as f:
                f.write(f"{SECONDS_MAX} {test}\n")
            begun = time.monotonic()
            status = children.ended([program, "--plan", plan], SECONDS_MAX, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL,
                                    env=dict(os.environ, NVMOVE_TEST_REACHED=held, TMPDIR=place))
            took = time.monotonic() - begun
            if status != 0:  # as one does whose stack is small, without optimisation
                print(f"reached: {test} fails with marks, and is left out", flush=True)
                return test, took, set()
            with open(held, "rb") as f:
                reached = f.read()
        return test, took, set().union(*(block_at.get(m.start(), ()) for m in re.finditer(b"\1", reached)))

    found = Reached()
    found.know(set().union(*lines))
    with concurrent.futures.ThreadPoolExecutor(jobs) as workers:
        for result in workers.map(run, tests):
            found.add(*result)
    return found
