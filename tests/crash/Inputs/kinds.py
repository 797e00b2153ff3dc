"""What `nvmove crash --explain` says of each kind stands on the page, and on no other heading; each kind that
the sources name is known.

usage: kinds.py NVMOVE PAGE SOURCES
"""
import glob
import os
import re
import subprocess
import sys

nvmove, page, sources = sys.argv[1:]


def explained(kind):
    command = [nvmove, "crash", "--explain", kind]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


with open(page) as f:
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", f.read(), re.M | re.S))
kinds = explained("all").splitlines()
faults = [f"{name}: a heading of no kind" for name in set(sections) - set(kinds)]
for kind in kinds:
    name, what, mend = explained(kind).rstrip("\n").split("\n\n")
    flat = " ".join(sections.get(kind, "").split())
    if name != kind or what not in flat or mend not in flat:
        faults.append(f"{kind}: the page says something else than --explain")
named = set()
for path in glob.glob(os.path.join(sources, "*.cpp")) + glob.glob(os.path.join(sources, "*.h")):
    if os.path.basename(path) == "Report.cpp":  # the names of JSON
        continue
    with open(path) as f:
        text = f.read()
    named |= set(re.findall(r'(?:\badd\(|\bmake\(|\bFinding F?\{|Kind = |^ *\{)"([a-z][a-z ]+)"', text, re.M))
    named |= set(re.findall(r'constexpr const char \*\w+ = "([a-z][a-z ]+)";', text))
    named |= set(re.findall(r'case Verdict::\w+:\n +return "([a-z][a-z ]+)";', text))
faults += [f"{kind}: the sources have it, Kinds.def has not" for kind in sorted(named - set(kinds))]
print("\n".join(faults) or f"{len(kinds)} kinds, all of them on the page; "
      f"{len(named)} in the sources are known")
