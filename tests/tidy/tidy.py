#!/usr/bin/env python3
"""The house rules that a machine can check: layering, sizes, headers, leftovers, formatting.

usage: tidy.py [ROOT]

Each check is a function that yields "file:line: what is wrong"; it passes when it yields nothing.
Only files that git knows are looked at.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import floors  # noqa: E402
import includes  # noqa: E402
import joined  # noqa: E402
import rooms  # noqa: E402
import settings  # noqa: E402

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70
HEADER_LINES_MAX = 200
PYTHON_COLUMNS_MAX = 110

# Which rooms of src/ a room may include, besides itself; the picture is in ARCHITECTURE.md.
# Data goes one way: report sees solve's result, but nothing of how it was found.
ALLOWED = {
    "support": set(),
    "facts": {"support"},
    "scan": {"support", "facts"},
    "solve": {"support", "facts"},
    "plan": {"support", "facts", "solve", "observe", "port"},
    "report": {"support", "facts", "solve"},
    "crash": {"support"},
    "pool": {"support"},
    "port": set(),
    "observe": {"support"},
    "move": {"support"},
    "stat": {"support"},
    "tools": {"support", "facts", "scan", "solve", "plan", "port", "report", "crash", "pool",
              "observe", "move", "stat"},
    # The compiler plugin and its driver share nothing with the analysis: the contracts of the plugin are
    # include/nvmove and the port file, and the driver, which starts once for every source, is standard C++
    # only.
    "plugin": {"port"},
    "nvmove-cc": set(),
}
CLANG_ROOMS = {"scan", "plugin"}
# Folders of LLVM's headers that only the plugin has a use for.
IR_FOLDERS = {"IR", "Analysis", "Transforms", "Passes"}
IR_ROOMS = {"plugin"}
NO_LLVM_ROOMS = {"nvmove-cc"}
# The runtime is C and sees its own headers and the public ones; the processor only in persist.*.
C_ROOMS = ("runtime/", "include/")
INTRINSICS = re.compile(r"#include <(\w*intrin|cpuid)\.h>|\b_mm\d*_\w+\(|__asm__")
INTRINSICS_HOME = ("runtime/platform/persist.h", "runtime/platform/persist.c", "runtime/base/checksum_wide.c",
                   "runtime/base/bits.h", "runtime/tx/sites.c", "runtime/emulation/clock.h",
                   "runtime/emulation/clock.c")
# What report may know of solve: the result, not the solver.
RESULT_ONLY = {"report": {"solve/Result.h"}}


def tracked(root):
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=root, capture_output=True, check=True).stdout
    names = [n for n in listed.decode().split("\0") if n]
    return [n for n in names if os.path.isfile(os.path.join(root, n))]


class Tree:
    def __init__(self, root):
        self.root = root
        self.names = tracked(root)
        self.texts = {}

    def lines(self, name):
        if name not in self.texts:
            with open(os.path.join(self.root, name), encoding="utf-8", errors="replace") as f:
                self.texts[name] = f.read().split("\n")
        return self.texts[name]

    def sources(self):
        return [n for n in self.names
                if n.endswith((".h", ".cpp", ".c")) and n.startswith(("src/", "tools/", "plugin/", *C_ROOMS))]

    def c_sources(self):
        return [n for n in self.sources() if n.startswith(C_ROOMS)]

    def scripts(self):
        return [n for n in self.names if n.endswith(".py")]


def room(name):
    parts = name.split("/")
    if parts[0] == "src" or parts[:2] == ["tools", "nvmove-cc"]:
        return parts[1]
    return parts[0]


def c_layering(tree):
    """runtime includes its own headers and nvmove/; include/ only itself. One file knows the processor."""
    for name in tree.c_sources():
        for number, line in enumerate(tree.lines(name), 1):
            m = re.match(r'#include\s+"([^"]+)"', line)
            if m and name.startswith("runtime/") and not m.group(1).startswith("nvmove/"):
                target = "runtime/" + m.group(1)
                if not os.path.isfile(os.path.join(tree.root, target)):
                    yield f"{name}:{number}: the runtime may not use {m.group(1)}"
            if m and name.startswith("include/") and not m.group(1).startswith("nvmove/"):
                yield f"{name}:{number}: a public header may not use {m.group(1)}"
            if INTRINSICS.search(line) and name not in INTRINSICS_HOME:
                yield f"{name}:{number}: only {' and '.join(INTRINSICS_HOME)} may know the processor"


def c_names(tree):
    """Functions: nvm_ public, nvmi_ across files, __nvm_ ABI, plain when static or the C library's."""
    defined = re.compile(r"^(?!static|typedef|enum|#|extern|NVMI_INTERPOSE)\w[\w ]*[ *](\w+)\(")
    for name in tree.c_sources():
        if not name.endswith(".c"):
            continue
        for number, line in enumerate(tree.lines(name), 1):
            m = defined.match(line)
            if m and line.endswith("{") and not m.group(1).startswith(("nvm_", "nvmi_", "__nvm_")):
                yield f"{name}:{number}: {m.group(1)} is neither static nor nvm_, nvmi_, __nvm_"


def runtime_rooms(tree):
    """A room of the runtime uses only rooms below it, and declares what its own files define (rooms.py)."""
    uses, lost = rooms.of_tree(tree)
    for name in lost:
        yield f"{name}:1: in none of the rooms of tests/tidy/rooms.py"
    for name, used, home in uses.upward():
        yield f"{name}:1: uses {used}, which is above it ({home})"
    for header, name, home in uses.elsewhere:
        yield f"{header}:1: declares {name}, which is of {home}"


def floors_of_rooms(tree):
    yield from floors.upward(tree)


def layering(tree):
    for name in tree.sources():
        if name.startswith(C_ROOMS):
            continue
        own = room(name)
        if own not in ALLOWED:
            yield f"{name}:1: room '{own}' is not in ALLOWED of tests/tidy/tidy.py"
            continue
        for number, line in enumerate(tree.lines(name), 1):
            m = re.match(r'#include\s+"([a-z]+)/(\S+)"', line)
            if not m:
                continue
            if m.group(1) == "llvm" and (own in NO_LLVM_ROOMS or own not in IR_ROOMS and
                                         m.group(2).split("/")[0] in IR_FOLDERS):
                yield f"{name}:{number}: {own} may not see {m.group(0)[9:]}"
            used, path = m.group(1), f"{m.group(1)}/{m.group(2)}"
            if used == "clang" and own not in CLANG_ROOMS:
                yield f"{name}:{number}: only {', '.join(CLANG_ROOMS)} may see Clang headers"
            if used in ALLOWED and used != own and used not in ALLOWED[own]:
                yield f"{name}:{number}: {own} may not use {used}"
            if used == "solve" and own in RESULT_ONLY and path not in RESULT_ONLY[own]:
                yield f"{name}:{number}: {own} may only see {', '.join(RESULT_ONLY[own])}"


def cmake_agrees(tree):
    """src/CMakeLists.txt links the same rooms that ALLOWED lets a room include."""
    for number, line in enumerate(tree.lines("src/CMakeLists.txt"), 1):
        m = re.match(r"nvmove_room\((\w+)(?:\s+USES\s+([\w ]+))?\)", line)
        if m and set((m.group(2) or "").split()) - ALLOWED.get(m.group(1), set()):
            yield f"src/CMakeLists.txt:{number}: links rooms that {m.group(1)} may not include"


def sizes(tree):
    for name in tree.sources():
        count = len(tree.lines(name)) - 1
        limit = HEADER_LINES_MAX if name.endswith(".h") else FILE_LINES_MAX
        if count > limit:
            yield f"{name}:{limit}: {count} lines, at most {limit}"


def function_lengths(tree):
    """C++ as clang-format leaves it: a body ends with a brace as far in as its first line began, and
    nothing between them is as far out. Indentation 2 are the functions inside classes."""
    for name in tree.sources():
        for indent in (0, 2):
            first = re.compile(rf" {{{indent}}}[A-Za-z~\[](?!\w*:$)")
            begin = 0
            for number, line in enumerate(tree.lines(name), 1):
                if line == " " * indent + "}" and number - begin + 1 > FUNCTION_LINES_MAX:
                    yield (f"{name}:{begin}: function of {number - begin + 1} lines, "
                           f"at most {FUNCTION_LINES_MAX}")
                elif first.match(line) and not line.strip().startswith("namespace"):
                    begin = number
    for name in tree.scripts():
        begin, indent = None, 0
        for number, line in enumerate(tree.lines(name) + ["end"], 1):
            if begin and line.strip() and len(line) - len(line.lstrip()) <= indent:
                if number - begin > FUNCTION_LINES_MAX:
                    yield f"{name}:{begin}: function of {number - begin} lines"
                begin = None
            m = re.match(r"( *)def ", line)
            if m and begin is None:
                begin, indent = number, len(m.group(1))


def header_comments(tree):
    """Every source opens with what it is for."""
    for name in tree.sources():
        if not tree.lines(name)[0].startswith(("// ", "/* ")):
            yield f"{name}:1: opens without a comment that says what it is for"
    for name in tree.scripts():
        text = "\n".join(tree.lines(name)[:3])
        if '"""' not in text and not re.match(r"(#!.*\n)?# ", text):
            yield f"{name}:1: opens without a docstring"


def headers(tree):
    for name in tree.sources():
        guard = name.startswith("include/")
        wanted = re.compile(r"#ifndef NVMOVE_\w+_H$" if guard else r"#pragma once$")
        if name.endswith(".h") and not any(wanted.match(line) for line in tree.lines(name)):
            yield f"{name}:1: no {'guard' if guard else '#pragma once'}"


MAY_EXIT = "runtime/base/own_threads.c"  # in place of the C library
LEFTOVERS = [
    (re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b"), "an open end"),
    (re.compile(r"(?<![\w.])/(home|root|work|Users)/\w"), "a path of one machine"),
    (re.compile(r"\bexit\("), "exit() in a library"),
]


def leftovers(tree):
    for name in tree.names:
        if name.startswith("third_party/") or name == "LICENSE" or \
                not re.search(r"\.(h|cpp|c|py|md|txt|cmake|json|test|yaml|cfg)$|Makefile|setup|run$",
                              name):
            continue
        for number, line in enumerate(tree.lines(name), 1):
            for pattern, why in LEFTOVERS:
                if "exit" in why and not (name.startswith(("src/", "runtime/")) and name != MAY_EXIT and
                                          not re.search(r"_exit|atexit|at_exit", line)):
                    continue
                if pattern.search(line):
                    yield f"{name}:{number}: {why}: {line.strip()[:60]}"


def program_names(tree):
    """A rule with a scanned program's own names in it is a defect of the analysis."""
    names = r"\b(rdb\w*|robj|redis\w*|memcached?|wiredtiger|zskiplist|quicklist|sdshdr\w*)\b"
    pattern = re.compile(names, re.I)
    for name in tree.sources():
        if not name.startswith(("src/scan/", "src/solve/", "src/facts/")):
            continue
        for number, line in enumerate(tree.lines(name), 1):
            if pattern.search(line.split("//")[0]):
                yield f"{name}:{number}: a scanned program's name: {line.strip()[:60]}"


def settings_are_known(tree):
    """The page of settings says what settings.def says, which knows each that is read or set by name."""
    if settings.DEF not in tree.names:
        return
    text = settings.read(tree.root, settings.DEF)
    page = settings.read(tree.root, settings.PAGE) if settings.PAGE in tree.names else ""
    if settings.page_with(page, settings.tables(text)) != page:
        yield f"{settings.PAGE}:1: not what tests/tidy/settings.py --write makes of {settings.DEF}"
    known = {entry[0] for entry in settings.entries(text)}
    for name in tree.sources():
        for number, line in enumerate(tree.lines(name), 1):
            for used in settings.USE.findall(line):
                if used not in known and not used.startswith("NVMOVE_TEST_"):
                    yield f"{name}:{number}: {used} is not in {settings.DEF}"


def links(tree):
    """A page that is named exists."""
    for name in tree.names:
        if name.endswith("tidy/selftest.py") or \
                not re.search(r"\.(h|cpp|c|py|test|cmake|txt|md|def|yaml|sh)$|Makefile|\.ci/run", name):
            continue
        for number, line in enumerate(tree.lines(name), 1):
            for page in re.findall(r"(?<![\w/])docs/[\w/-]+\.md", line):
                if page not in tree.names:
                    yield f"{name}:{number}: {page} does not exist"
            for page in re.findall(r"\]\((?!https?:|#)([^)#]+)", line) if name.endswith(".md") else ():
                if not os.path.exists(os.path.join(tree.root, os.path.dirname(name), page)):
                    yield f"{name}:{number}: {page} does not exist"


def dead_files(tree):
    """A header that nobody includes, a script or test input that nobody mentions."""
    everything = {n: "\n".join(tree.lines(n)) for n in tree.names
                  if re.search(r"\.(h|cpp|c|py|test|cmake|txt|md|json|cfg)$|Makefile|\.ci/run", n)}
    for name in tree.names:
        base = os.path.basename(name)
        if name.endswith(".h") and name.startswith("tools/nvmove-cc/"):
            wanted = f'"{base}"'  # a flat room
        elif name.endswith(".h") and name.startswith(("src/", "tools/", *C_ROOMS)):
            wanted = name.split("/", 1)[1]
        elif "/Inputs/" in name or name.startswith("scripts/"):
            wanted = base
        else:
            continue
        if not any(wanted in text for n, text in everything.items() if n != name):
            yield f"{name}:1: nobody uses it"


def python_names(tree):
    """Python looks for modules beside a script first: one named like the library's hides it."""
    for name in tree.names:
        if name.endswith(".py") and os.path.basename(name)[:-3] in sys.stdlib_module_names:
            yield f"{name}:1: hides a module of Python's library from the scripts beside it"


def python_lines(tree):
    for name in tree.scripts():
        for number, line in enumerate(tree.lines(name), 1):
            if len(line) > PYTHON_COLUMNS_MAX:
                yield f"{name}:{number}: {len(line)} columns"


def formatting(tree):
    names = [n for n in tree.names if n.endswith((".h", ".cpp")) or
             n.endswith(".c") and n.startswith(("runtime/", "tests/runtime/", "bench/"))]
    run = subprocess.run(["clang-format-19", "--dry-run", "-ferror-limit=1", *names],
                         cwd=tree.root, capture_output=True, text=True)
    for line in run.stderr.split("\n"):
        m = re.match(r"(\S+):(\d+):\d+: (warning|error): (.*)", line)
        if m:
            yield f"{m.group(1)}:{m.group(2)}: {m.group(4)}"


LOCKS_HOME = ("runtime/base/own_locks.h", "runtime/base/own_locks.c", "runtime/interpose/locks.c")


def locks_survive_fork(tree):
    """Each lock of the runtime is one of nvmi_locks, or a member that is added to them (own_locks.h)."""
    everything = "\n".join("\n".join(tree.lines(n)) for n in tree.c_sources())
    for name in tree.c_sources():
        for number, line in enumerate(tree.lines(name), 1):
            raw = re.search(r"\bpthread_(mutex|rwlock|spinlock)_t\b|\bsem_t\b", line)
            if raw and name.startswith("runtime/") and name not in LOCKS_HOME:
                yield f"{name}:{number}: fork does not bring it over; see runtime/base/own_locks.h"
            m = re.match(r"(\s*)(?:static )?struct nvmi_mutex (\w+)\b.*;", line)
            if m and not re.search(rf"nvmi_mutex_add\(&[\w>.-]*{m.group(2)},", everything):
                yield f"{name}:{number}: {m.group(2)} is never added to the locks that fork brings over"


# Calls of the C library in which a thread may be cancelled, as far as the runtime may want them.
CANCELS = re.compile(
    r"(?<![\w.>])(NVMI_UNCANCELLED\(\s*)?"
    r"(open|openat|close|creat|fcntl|posix_fallocate|fallocate|fsync|fdatasync|msync|read|readv|pread|"
    r"write|writev|pwrite|nanosleep|clock_nanosleep|usleep|sleep|pause|poll|ppoll|select|sem_wait|sigwait|"
    r"sigwaitinfo|sigtimedwait|sigsuspend|pthread_cond_wait|pthread_cond_timedwait|pthread_join|getrandom|"
    r"copy_file_range|wait|waitpid|system|fopen|fclose|fread|fwrite|fflush|fputs|fprintf|vfprintf|printf|"
    r"puts|perror|opendir|readdir|closedir|mkstemp|syslog)\(")


def uncancelled(tree):
    """No thread is cancelled inside the runtime (runtime/base/uncancelled.h)."""
    for name in tree.c_sources():
        if not name.startswith("runtime/"):
            continue
        text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), "\n".join(tree.lines(name)),
                      flags=re.S)
        for m in CANCELS.finditer(text):
            before = text[text.rfind("\n", 0, m.start()) + 1:m.start()]
            if not m.group(1) and not re.search(r"\b(static|void|int|bool)\b[ *\w]*$", before):
                line = text.count("\n", 0, m.start()) + 1
                yield f"{name}:{line}: a thread may be cancelled in {m.group(2)}"


def one_name_one_source(tree):
    yield from joined.twice(tree)


def own_includes(tree):
    yield from includes.missing(tree)


CHECKS = [layering, c_layering, runtime_rooms, floors_of_rooms, c_names, cmake_agrees, sizes,
          function_lengths, header_comments, headers, leftovers, program_names, settings_are_known,
          links, dead_files, python_names, python_lines, formatting, locks_survive_fork, uncancelled,
          one_name_one_source, own_includes]


def run(root):
    """Runs every check, prints what it finds; gives (passed, failed)."""
    tree = Tree(root)
    failed = 0
    for check in CHECKS:
        found = list(check(tree))
        for text in found:
            print(f"tidy: {check.__name__}: {text}")
        failed += bool(found)
    return len(CHECKS) - failed, failed


if __name__ == "__main__":
    passed, failed = run(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "."))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
