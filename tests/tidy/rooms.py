#!/usr/bin/env python3
"""The rooms of the runtime: who may use whom.

usage: rooms.py [ROOT]

A room is a folder of runtime/. It may use the rooms below it in ROOMS. A use is a file and a function, a
variable or a macro (nvm_, nvmi_, __nvm_, NVMI_) that another room defines, or a header that is included.
A function that a header declares weak is a hook: it belongs to the room of that header, whoever defines it.

Prints each pair of rooms that has uses upward, functions that are not declared in the header of their own
file, and the sums.
"""
import collections
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# From bottom to top; ARCHITECTURE.md says what each is for.
ROOMS = ("base", "format", "platform", "emulation", "core", "log", "heap", "types", "symbols", "judge",
         "order", "tx", "methods", "alloc", "interpose", "gc", "trace", "raw", "outputs", "observe",
         "pool", "fsck", "admin", "port")
RANK = {name: number for number, name in enumerate(ROOMS)}

COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
NAME = re.compile(r"\b(?:__nvm|nvmi?|NVMI)_\w+")
FUNCTION = re.compile(r"^(?!typedef|extern|return|else)\w[\w()\", *]*?(?:\n|(?<=[ *]))"
                      r"((?:__nvm|nvmi?)_\w+)\([^;{}]*\)\s*\{", re.M)
VARIABLE = re.compile(r"^(?!typedef|extern|return|else|struct \w+;)\w[\w, ]*[ *]+((?:__nvm|nvmi?)_\w+)"
                      r"(?:\[[^\]]*\])*\s*(?:=[^=]|;)", re.M)
MACRO = re.compile(r"^#define ((?:NVMI|nvmi)_\w+)", re.M)
HOOK = re.compile(r"^__attribute__\(\(weak\)\) [\w ]*?[ *]*((?:__nvm|nvmi?)_\w+)\(", re.M)
DECLARATION = re.compile(r"^(?!typedef|extern|return|else|#)\w[\w *()]*?[ *](nvmi_\w+)\([^;{}]*\)[^;{}]*;",
                         re.M)
INCLUDE = re.compile(r'^#include "(\w+)/([\w.]+)"', re.M)


def room_of(name):
    return name.split("/")[1]


def declares(header, source):
    """A function is declared in the header of its file, or of what the file is a part of: statics.h declares
    what statics_table.c defines."""
    stem, own = header[:-len(".h")], os.path.splitext(source)[0]
    return own == stem or own.startswith(stem + "_")


class Uses:
    """All that the sources of the runtime use of each other: (file, name, file that defines it)."""

    def __init__(self, texts):
        """texts: of each file, by its path from the root."""
        code = {name: COMMENT_OR_TEXT.sub(" ", text) for name, text in texts.items()}
        self.home = {}
        for pattern in (FUNCTION, VARIABLE, MACRO):
            for name in sorted(code):
                for found in pattern.finditer(code[name]):
                    known = self.home.get(found.group(1), name)
                    if pattern is MACRO and known and room_of(known) != room_of(name):
                        self.home[found.group(1)] = ""  # each has its own
                    self.home.setdefault(found.group(1), name)
        for name in sorted(code):
            for found in HOOK.finditer(code[name]) if name.endswith(".h") else ():
                self.home[found.group(1)] = name
        self.all = []
        for name, text in sorted(code.items()):
            for used in sorted(set(NAME.findall(text))):
                home = self.home.get(used)
                if home and room_of(home) != room_of(name):
                    self.all.append((name, used, home))
            for folder, header in INCLUDE.findall(texts[name]):
                if folder in RANK and folder != room_of(name):
                    self.all.append((name, f"{folder}/{header}", f"runtime/{folder}/{header}"))

        self.elsewhere = [(header, name, self.home[name]) for header in sorted(code) if header.endswith(".h")
                          for name in DECLARATION.findall(code[header])
                          if not declares(header, self.home.get(name, header))]

    def upward(self):
        return [use for use in self.all if RANK[room_of(use[2])] > RANK[room_of(use[0])]]


def of_tree(tree):
    """Uses; and the files that lie in no room."""
    names = [n for n in tree.names if n.startswith("runtime/") and n.endswith((".c", ".h"))]
    lost = [n for n in names if n.count("/") != 2 or room_of(n) not in RANK]
    return Uses({n: "\n".join(tree.lines(n)) for n in names if n not in lost}), lost


def main():
    import tidy
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(HERE))
    uses, _ = of_tree(tidy.Tree(root))
    pairs = collections.defaultdict(list)
    for name, used, home in uses.upward():
        pairs[room_of(name), room_of(home)].append(f"{os.path.basename(name)}: {used}")
    for (low, high), found in sorted(pairs.items(), key=lambda p: (RANK[p[0][0]], RANK[p[0][1]])):
        print(f"{low} -> {high}: {', '.join(found)}")
    for header, name, home in uses.elsewhere:
        print(f"{header} declares {name} of {home}")
    print(f"{len(uses.all)} uses between rooms, {len(uses.upward())} upward; "
          f"{len(uses.elsewhere)} functions declared elsewhere")


if __name__ == "__main__":
    main()
