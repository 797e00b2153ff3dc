#!/usr/bin/env python3
"""The table of settings: runtime/base/settings.def as the page docs/reference/settings.md has it.

usage: settings.py [--write] [ROOT]

The page has one table for each program that reads settings, in the order of the .def file. --write puts
the tables into the page, between the two marks; without it they are printed. Tidy compares.
"""
import os
import re
import sys

DEF, PAGE = "runtime/base/settings.def", "docs/reference/settings.md"
BEGIN, END = "<!-- settings.py begin -->\n", "<!-- settings.py end -->\n"
HEADINGS = {"libnvmove": "Programs built with `nvmove-cc`", "a moved program": "Programs with a port file",
            "nvmove scan": "`nvmove scan`", "nvmove-cc": "`nvmove-cc`"}
TEXTS = r'((?:\s*"(?:[^"\\]|\\.)*")+)'
ENTRY = re.compile(r'^SETTING\((\w+), (.*?), "([^"]*)",' + TEXTS + "," + TEXTS + r"\)$", re.M | re.S)
USE = re.compile(r'\b(?:getenv|setenv|unsetenv|nvmi_setting\w*|environment)\("(NVMOVE_\w+)"')


def joined(text):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))


def value_text(value):
    """What may stand behind the `=`."""
    words = re.match(r'WORDS?\((.*)\)$', value)
    if words:
        return " or ".join(f"`{w}`" for w in re.findall(r'"([^"]*)"', words.group(1)))
    number = re.match(r'NUMBER\(\d+, "(.*)"\)$', value)
    if number:
        return number.group(1)
    least = re.match(r"BYTES\((\d+)\)$", value)
    if least:
        return f"bytes, {least.group(1)} or more, or a number with `K`, `M` or `G`: `512M`"
    return {"STEP": "`KIND:N`", "SYNC": "`always`, `never`, or milliseconds, 1 to 60000",
            "TEXT": "text"}[value]


def entries(text):
    """(name, value, reader, meaning, without) of each."""
    found = [(name, value, reader, joined(meaning), joined(without))
             for name, value, reader, meaning, without in ENTRY.findall(text)]
    if len(found) != len(re.findall(r"^SETTING\(", text, re.M)):
        raise ValueError(f"{DEF}: an entry that this script cannot read")
    return found


def tables(text):
    lines, known = [], entries(text)
    for reader, heading in HEADINGS.items():
        lines += [f"## {heading}", "", "| variable | value | meaning | without it |", "|---|---|---|---|"]
        lines += [f"| `{name}` | {value_text(value)} | {meaning} | {without} |"
                  for name, value, whose, meaning, without in known if whose == reader]
        lines.append("")
    strangers = {e[2] for e in known} - set(HEADINGS)
    if strangers:
        raise ValueError(f"{DEF}: no heading for {', '.join(sorted(strangers))}")
    return "\n".join(lines)


def page_with(page, made):
    """A page without the marks is not right, whatever it says."""
    if BEGIN not in page or END not in page:
        return None
    before, rest = page.split(BEGIN)
    return before + BEGIN + "\n" + made + "\n" + END + rest.split(END)[1]


def read(root, name):
    with open(os.path.join(root, name)) as f:
        return f.read()


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    root = arguments[0] if arguments else os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    made = tables(read(root, DEF))
    if "--write" not in sys.argv:
        print(made, end="")
        return
    page = page_with(read(root, PAGE), made)
    with open(os.path.join(root, PAGE), "w") as f:
        f.write(page)


if __name__ == "__main__":
    main()
