#!/usr/bin/env python3
"""Man pages from what the tools say with --help, so that neither says what the other does not.

usage: pages.py NVMOVE NVMOVE_CC FOLDER

Of a help text: its first line says what the command does; indented lines of two columns below a heading
are options; paragraphs in between are prose; the blocks that Examples:, Exit status: and Environment: head
are taken as they are.
"""
import os
import re
import subprocess
import sys

HEADING = re.compile(r"^([A-Z][A-Za-z ]*):$")
ENTRY = re.compile(r"^  (\S.*?)(?:  +(\S.*))?$")
VERBATIM = ("Examples", "Exit status", "Environment", "The order of the steps", "Next")

# Page, the commands whose help it is made of, further reading.
PAGES = [
    ("nvmove", [[]], "nvmove-scan(1), nvmove-observe(1), nvmove-plan(1), nvmove-move(1), nvmove-estimate(1), "
     "nvmove-cc(1), nvmove-crash(1), nvmove-pool(1), nvmove-stat(1)"),
    ("nvmove-scan", [["scan"], ["facts"]], "nvmove(1), nvmove-cc(1)"),
    ("nvmove-crash", [["crash"]], "nvmove(1), nvmove-cc(1), nvmove-pool(1)"),
    ("nvmove-pool", [["pool"]], "nvmove(1), nvmove-crash(1)"),
    ("nvmove-observe", [["observe"]], "nvmove(1), nvmove-cc(1), nvmove-plan(1)"),
    ("nvmove-plan", [["plan"]], "nvmove(1), nvmove-scan(1), nvmove-cc(1), nvmove-crash(1)"),
    ("nvmove-move", [["move"]], "nvmove(1), nvmove-plan(1), nvmove-cc(1), nvmove-crash(1)"),
    ("nvmove-stat", [["stat"]], "nvmove(1), nvmove-pool(1)"),
    ("nvmove-estimate", [["estimate"]], "nvmove(1), nvmove-scan(1), nvmove-cc(1)"),
    ("nvmove-cc", None, "nvmove(1), nvmove-scan(1), nvmove-crash(1), clang(1)"),
]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def quote(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def blocks(text):
    """(heading or "", lines) of a help text; a paragraph has no heading."""
    heading, lines = "", []
    for line in text.splitlines() + [""]:
        match = HEADING.match(line)
        if match or (not line and heading not in VERBATIM) or (not line and not lines):
            if lines:
                yield heading, lines
            heading, lines = match.group(1) if match else "", []
        elif line:
            lines.append(line)
    if lines:
        yield heading, lines


def entries(lines):
    for line in lines:
        match = ENTRY.match(line)
        yield ".TP\n.B " + quote(match.group(1)) + "\n" + quote(match.group(2) or "") + "\n"


def verbatim(lines):
    text = "\n".join(line[2:] if line.startswith("  ") else line for line in lines)
    return ".nf\n" + quote(text) + "\n.fi\n"


class Page:
    def __init__(self):
        self.prose, self.options, self.rest = [], [], {}

    def add(self, text, command):
        """Gives what the command does, in a line."""
        lines = text.splitlines()
        does = lines[0] if not lines[0].lower().startswith("usage") else lines[2]
        body = "\n".join(line for line in lines if line != does and not line.lower().startswith("usage: "))
        if command:
            self.options.append(".SS " + quote(" ".join(command)) + "\n" + quote(does) + "\n")
        for heading, block in blocks(body):
            if heading in VERBATIM:
                self.rest.setdefault(heading, block)
            elif all(ENTRY.match(line) for line in block):
                if heading not in ("Options", "Positionals", ""):
                    self.options.append(".PP\n.I " + quote(heading) + "\n")
                self.options.extend(entries(x for x in block if not command or "--help" not in x))
            elif heading == "" and not command:
                self.prose.append(quote("\n".join(block)) + "\n")
        return does

    def print(self, name, does, usage, see):
        parts = [f'.TH {name.upper()} 1 "" nvmove "User Commands"\n',
                 f".SH NAME\n{quote(name)} \\- {quote(does[0].lower() + does[1:].rstrip('.'))}\n",
                 ".SH SYNOPSIS\n.B " + quote(usage) + "\n",
                 ".SH DESCRIPTION\n" + quote(does.rstrip(".")) + ".\n"]
        parts += [".PP\n" + paragraph for paragraph in self.prose]
        parts += [".SH OPTIONS\n"] + self.options
        for heading in VERBATIM:
            if heading in self.rest:
                parts.append(f".SH {heading.upper()}\n" + verbatim(self.rest[heading]))
        parts.append(".SH SEE ALSO\n" + quote(see) + "\n")
        return "".join(parts)


def usage_of(text):
    line = next(line for line in text.splitlines() if line.lower().startswith("usage: "))
    return line[len("usage: "):]


def verbs(text):
    """The subcommands that a help text lists."""
    listed = text.split("Subcommands:\n")[1].split("\n\n")[0] if "Subcommands:" in text else ""
    return [line.split()[0] for line in listed.splitlines()]


def write(nvmove, nvmove_cc, name, commands, see):
    page = Page()
    if commands is None:
        text = run(nvmove_cc, "--nvmove-help")
        does = page.add(text, [])
        return page.print(name, does, usage_of(text), see)
    text = run(nvmove, *commands[0], "--help")
    does = page.add(text, [])
    for command in commands[1:]:
        page.add(run(nvmove, *command, "--help"), command)
    for verb in verbs(text) if commands[0] else []:
        page.add(run(nvmove, *commands[0], verb, "--help"), [*commands[0], verb])
    return page.print(name, does, usage_of(text), see)


def main():
    nvmove, nvmove_cc, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for name, commands, see in PAGES:
        with open(os.path.join(folder, name + ".1"), "w") as file:
            file.write(write(nvmove, nvmove_cc, name, commands, see))


if __name__ == "__main__":
    main()
