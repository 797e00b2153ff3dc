"""Sources of one room are compiled several at once (cmake/Rooms.cmake): a function of an anonymous
namespace whose name is there twice would be an overload in one of the builds."""
import os
import re

ROOMS = re.compile(r"(src/\w+|tools/nvmove|plugin)/(\w+/)?\w+\.cpp$")
DEFINED = re.compile(r"(?!return|using|namespace|struct|class|enum|template|else|#|//|}|\s)"
                     r"[\w:<>,&*\s]*?[\s&*](\w+)\(")


def anonymous(lines):
    """(line number, name) of each function that an anonymous namespace of the file defines."""
    inside = False
    for number, line in enumerate(lines, 1):
        if line.startswith("namespace {"):
            inside = True
        elif line == "} // namespace":
            inside = False
        m = DEFINED.match(line)
        if m and (inside or line.startswith("static ")):
            yield number, m.group(1)


def twice(tree):
    first = {}
    for name in sorted(tree.sources()):
        room = ROOMS.match(name)
        if not room:
            continue
        for number, function in anonymous(tree.lines(name)):
            known = first.setdefault((room.group(1), function), name)
            if known != name:
                yield f"{name}:{number}: {known} has a function {function}, too"
