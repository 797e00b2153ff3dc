#!/usr/bin/env python3
"""The functions that are outputs are the same in a table, an archive and a document.

usage: output-names.py OUTPUTS.def ARCHIVE.a DOCUMENT.md

The archive also has the functions that make temporary files, and `socket`. The document need not name those
that take or give 64 bits in place of another, nor all of a family of which it names one ("exec and its kin").
"""
import re
import subprocess
import sys

NO_OUTPUTS = re.compile(r"mko?stemps?(64)?$|socket$")
FAMILY = re.compile(r"(f?exec)[a-z]*$")
PRINTING = {"vdprintf"}  # of dprintf


def defined(archive):
    listed = subprocess.run(["nm", "--defined-only", archive], capture_output=True, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    return {row[2] for row in rows if len(row) == 3 and row[1] == "W" and not row[2].startswith("nvmi_")}


def plain(name):
    return re.sub(r"64(v2)?$", lambda m: "2" if m.group(1) else "", name)


def main():
    table = set(re.findall(r"^NVM_OUTPUT\((\w+),", open(sys.argv[1]).read(), re.M))
    functions = {name for name in defined(sys.argv[2]) if not NO_OUTPUTS.match(name)}
    named = set(re.findall(r"`(\w+)`", open(sys.argv[3]).read()))
    wanted = {plain(name) for name in table if not FAMILY.match(name) and name[0] != "_"} - PRINTING
    wrong = [f"{name}: in the table, not in the archive" for name in sorted(table - functions)]
    wrong += [f"{name}: in the archive, not in the table" for name in sorted(functions - table)]
    wrong += [f"{name}: not in the document" for name in sorted(wanted - named)]
    if len(table) < 80:
        wrong.append(f"{len(table)} functions in the table")
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
