#!/usr/bin/env python3
"""Completion for bash from what nvmove says with --help, so that neither says what the other does not.

usage: completion.py NVMOVE FILE

Completed are subcommands, options, and the values of options whose help begins with "a (default), b or c".
Everything else is a file. Behind -- stands a program with its arguments: files, too.
"""
import re
import subprocess
import sys

OPTION = re.compile(r"^  ((?:-\w,)?--[\w-]+(?:,--[\w-]+)*|-\w) ?(\S*)(?:  +(.*))?$")
VALUES = re.compile(r"^((?:[\w-]+(?: \(default\))?, )*[\w-]+(?: \(default\))?,? or [\w-]+)(?=[:;,.]|$)")

SCRIPT = """# Completion of nvmove for bash; made by tools/completion/completion.py.
_nvmove() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= words= i
  [[ $word == = ]] && word=
  [[ $before == = ]] && before=${{COMP_WORDS[COMP_CWORD-2]}}
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      --) compopt -o default; return ;;
      -*) ;;
      *) case "$command ${{COMP_WORDS[i]}}" in
{commands}
         esac ;;
    esac
  done
  case "$command $before" in
{values}
  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    return
  fi
  case $command in
{words}
  esac
  [[ $word == -* || -z ${{command#pool}} ]] && COMPREPLY=($(compgen -W "$words" -- "$word"))
  [[ ${{#COMPREPLY[@]}} -gt 0 ]] || compopt -o default
}}
complete -F _nvmove nvmove
"""


def help_of(nvmove, command):
    done = subprocess.run([nvmove, *command, "--help"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def section(lines, heading):
    """The indented lines below a heading."""
    found = False
    for line in lines:
        if not line.startswith(" "):
            found = line == heading + ":"
        elif found:
            yield line


def values_of(text):
    match = VALUES.match(text or "")
    return re.findall(r"[\w-]+", re.sub(r"\(default\)|\bor\b", "", match.group(1))) if match else []


class Commands:
    def __init__(self, nvmove):
        self.words, self.values, self.all = {}, {}, []
        self.add(nvmove, [])

    def add(self, nvmove, command):
        lines, name = help_of(nvmove, command), " ".join(command)
        below = [line.split()[0] for line in section(lines, "Subcommands")]
        self.words[name] = list(below)
        self.all.append(name)
        for match in filter(None, map(OPTION.match, lines)):
            options = match.group(1).split(",")
            self.words[name] += options
            if values_of(match.group(3)):
                self.values.update({(name, option): values_of(match.group(3)) for option in options})
        for each in below:
            self.add(nvmove, [*command, each])


def main():
    commands = Commands(sys.argv[1])

    def lines(indent, rows):
        return "\n".join(" " * indent + row for row in rows)

    text = SCRIPT.format(
        commands=lines(9, (f'"{" ".join(name.split()[:-1])} {name.split()[-1]}") command="{name}" ;;'
                           for name in commands.all if name)),
        values=lines(4, (f'"{name} {option}") words="{" ".join(values)}" ;;'
                         for (name, option), values in commands.values.items())),
        words=lines(4, (f'"{name}") words="{" ".join(words)}" ;;' for name, words in commands.words.items())))
    with open(sys.argv[2], "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
