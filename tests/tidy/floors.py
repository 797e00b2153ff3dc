"""The floors of a room that has folders: a file includes headers of its own floor and of those below it."""
import os
import re

# From bottom to top; "" are the files outside of the folders. ARCHITECTURE.md says what each is for.
FLOORS = {
    "plugin/": ("base", "emit", "frontend", "ir", "unsafe", "porting", "trace", "loads", "emulation", ""),
    "src/solve/": ("", "program", "summary", "pointsto", "reach", "answer"),
}
PREFIX = {"src/solve/": "solve/"}  # of an include


def floor(path):
    return path.split("/", 1)[0] if "/" in path else ""


def upward(tree):
    """file:line of each include of a higher floor, and of each file that is on none."""
    for top, order in FLOORS.items():
        for name in tree.sources():
            if not name.startswith(top):
                continue
            own = floor(name[len(top):])
            if own not in order:
                yield f"{name}:1: on none of the floors of tests/tidy/floors.py"
                continue
            for number, line in enumerate(tree.lines(name), 1):
                m = re.match(r'#include "' + PREFIX.get(top, "") + r'([^"]+)"', line)
                if m and os.path.isfile(os.path.join(tree.root, top, m.group(1))) and \
                        order.index(floor(m.group(1))) > order.index(own):
                    yield f"{name}:{number}: uses {m.group(1)}, which is above it"
