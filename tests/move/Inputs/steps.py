"""Follows what each command of nvmove says last ("next: ..."), from a source file to a checked pool.

Usage: steps.py NVMOVE, in a folder with ledger.c, ledger.txt, steps and ask. Prints what does not hold.
"""
import json
import os
import re
import subprocess
import sys

BIN = os.path.dirname(os.path.abspath(sys.argv[1]))
POOL = "ledger.pool"
ENVIRONMENT = dict(os.environ, PATH=BIN + os.pathsep + os.environ["PATH"], NVMOVE_POOL=POOL)
COMMANDS = ("scan", "observe", "estimate", "plan", "move", "crash", "pool")
wrong = []


def after(line, status=0, typed=""):
    """What `line` names as the next step; None: nothing."""
    done = subprocess.run(line, shell=True, input=typed, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != status:
        wrong.append(f"{line}: ended with {done.returncode}: {done.stdout}{done.stderr}")
    named = re.findall(r"^nvmove: note: next: (.*)$", done.stderr, re.M)
    if len(named) > 1:
        wrong.append(f"{line}: names several steps: {named}")
    if named and done.stderr.splitlines()[-1] != "nvmove: note: next: " + named[-1]:
        wrong.append(f"{line}: goes on after it has named the next step")
    return named[0] if named else None


def expect(line, step, **more):
    """Runs `line`, after which exactly `step` has to be named. Returns the step."""
    named = after(line, **more)
    if named != step:
        wrong.append(f"{line}: the next step is {named!r}, not {step!r}")
    return step or ""


PLAN = "nvmove plan -p . --load load -o port.nvmove.yaml"
BUILD = "read port.nvmove.yaml, then build the program with nvmove-cc --nvmove-port=port.nvmove.yaml"
PAY = "pay ada 5\nquit\n"

# From the source to a port file.
step = expect("nvmove scan --suggest-load ledger.c --", "nvmove scan --load load ledger.c --")
step = expect(step, "nvmove plan --load load -o port.nvmove.yaml ledger.c --")
step = expect(step, BUILD)
build = step.split("with ")[-1]

# With a run of the program, and a database.
json.dump([{"directory": os.getcwd(), "file": "ledger.c", "arguments": ["cc", "-c", "ledger.c"]}],
          open("compile_commands.json", "w"))
after("nvmove-cc --nvmove-observe ledger.c -o observed")
expect("nvmove observe --load load -- ./observed",
       "the same with -o FILE, which 'nvmove plan --observed FILE' reads", typed=PAY)
step = expect("nvmove observe --load load -o 'a run.json' -- ./observed",
              "nvmove plan --load load --observed 'a run.json' -o port.nvmove.yaml", typed=PAY)
os.rename("port.nvmove.yaml", "first.yaml")
expect(step, BUILD)

# What memory would cost; no results for machines and no quiet command name a step.
expect("nvmove scan -p . --load load --format=json -o types.json", PLAN)
expect("nvmove scan -p . --load load --format=json", None)
expect("nvmove scan -q -p . --load load", None)
expect("nvmove scan -p . --load answer",
       "nvmove scan -p . --suggest-load lists functions that may load the state", status=1)
estimate = "nvmove estimate --types types.json --build '$CC ledger.c -o ledger' --rounds 1 --profile dram"
expect(estimate + " -- sh -c 'echo pay ada 5 | ./ledger'", "nvmove plan --load FUNCTION -o port.nvmove.yaml")

# The port: built, explored, looked after.
after(build + " -g --nvmove-trace ledger.c -o ledger")
step = expect("nvmove crash --seconds 0 -- ./ledger",
              "nvmove pool check FILE looks after the pool in operation: docs/guide/operations.md",
              typed=PAY)
after("./ledger", typed=PAY)
expect(step.split(" looks")[0].replace("FILE", POOL), None)
step = expect("nvmove crash --check 'false {}' -- ./ledger",
              "nvmove crash --explain=checker says what this kind of finding means, and what mends it",
              status=1, typed=PAY)
expect(step.split(" says")[0], None)
expect(expect(f"nvmove pool backup {POOL} copy.pool", "nvmove pool check copy.pool"), None)
step = expect(f"nvmove pool convert {POOL} new.pool",
              "nvmove pool check new.pool, then start the new program with it")
expect(step.split(",")[0], None)
expect("nvmove pool create empty.pool --size 2M",
       "start the program with it; NVMOVE_POOL=empty.pool names it to one with a port file")

# In one command.
move = "nvmove move --load load --workload steps --check ask --kills 2 -o made ledger.c"
expect(move, "build it with nvmove-cc --nvmove-trace --nvmove-port=made/port.nvmove.yaml, "
             "then nvmove crash -- ./program")
os.rename("first.yaml", "made/port.nvmove.yaml")
subprocess.run(["sed", "-i", "/name: paid/d", "made/port.nvmove.yaml"], check=True)
expect(move, "edit made/port.nvmove.yaml, and run the same command again", status=1)

for command in COMMANDS:
    said = subprocess.check_output(["nvmove", command, "--help"], env=ENVIRONMENT, text=True)
    if "\nNext:\n" not in said:
        wrong.append(f"{command} --help names no next step")
print("\n".join(wrong))
sys.exit(bool(wrong))
