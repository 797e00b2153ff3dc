#!/usr/bin/env python3
"""Kills a program that writes to a pool with three threads, again and again, and looks at what is left.

usage: storm.py --cc NVMOVE_CC [--kills N] [--seed N]

A campaign is one pool and CAMPAIGN kills of storm.c, with one method and domain, or another in each run; in
every second one locks are released inside transactions, and some are aborted; in every third one references
are counted. Some kills are by SIGKILL at a random moment, some by the runtime itself at a random log append,
step of a commit, of creation, of growth, or of the recovery that the next start makes. After each the pool
is opened and compared with what each thread had acknowledged: nothing lost, nothing torn, no block leaked. A
last campaign is run with operations that commit half-way: it must fail, or the storm is worth nothing. A
failure leaves the pool.

Exit status: 0 all right, 1 not.
"""
import argparse
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CAMPAIGN = 25      # kills of one pool
BROKEN_CAMPAIGNS = 5  # of which one must fail
MOMENT_MAX = 0.03  # seconds after which the running program is killed at the latest
STEPS_MAX = {"append": 1500, "commit": 1500, "recover": 5, "create": 3, "grow": 3}
SECONDS_MAX = 60
FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
ENVIRONMENTS = [{"NVMOVE_METHOD": method, "NVMOVE_DOMAIN": domain}
                for method, domain in itertools.product(("undo", "shadow"), ("process", "power", "disk"))]
ENVIRONMENTS = [dict(e, NVMOVE_DURABLE="always") for e in ENVIRONMENTS]
ENVIRONMENTS += [{"NVMOVE_METHOD": "shadow", "NVMOVE_DOMAIN": "disk", "NVMOVE_DURABLE": durable}
                 for durable in ("1", "never")]
# What the runs of a campaign take turns in, at random; and a further argument of the program.
CAMPAIGNS = [(ENVIRONMENTS, ("early",)), (ENVIRONMENTS, ()),
             *(([e], how) for how in (("early",), ()) for e in ENVIRONMENTS)]


def campaign_of(number):
    environments, how = CAMPAIGNS[number % len(CAMPAIGNS)]
    return environments, how + ("counted",) * ((number + number // len(CAMPAIGNS)) % 3 == 2)


class Wrong(Exception):
    """What the pool held after a kill."""


def kill_of(dice, created):
    """(step of the runtime, or None, and seconds until a signal)"""
    if not created and dice.random() < 0.7:
        return f"create:{dice.randint(1, STEPS_MAX['create'])}", MOMENT_MAX
    if dice.random() < 0.4:
        return None, dice.random() * MOMENT_MAX
    kind = dice.choice(("append", "commit", "commit", "recover", "grow"))
    return f"{kind}:{dice.randint(1, STEPS_MAX[kind])}", 10 * MOMENT_MAX


def killed(command, environment, step, seconds):
    """Whether the program was killed by the step, or, False, by the signal that follows."""
    if step:
        environment = dict(environment, NVMOVE_KILL_AT=step)
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace")
    child.stdout.readline()  # it runs, or it has ended
    try:
        said = child.communicate(timeout=seconds)[0]
        if child.returncode != -signal.SIGKILL:
            raise Wrong(f"ended with {child.returncode}: {said.strip()}")
        return True
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return False


def verify(program, files, seed, environment, how):
    done = subprocess.run([program, "verify", *files, str(seed), *how], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                          timeout=SECONDS_MAX)
    if done.returncode or "right" not in done.stdout:
        raise Wrong(f"status {done.returncode}: {done.stdout.strip()}")


def campaign(program, folder, seed, environments, kills, how=()):
    """Gives how many of the kills were the runtime's own."""
    dice, inside = random.Random(seed), 0
    files = [os.path.join(folder, "pool"), os.path.join(folder, "progress")]
    outside = {k: v for k, v in os.environ.items() if not k.startswith("NVMOVE_")}
    for _ in range(kills):
        step, seconds = kill_of(dice, os.path.exists(files[0]))
        inside += killed([program, "run", *files, str(seed), *how], {**outside, **dice.choice(environments)},
                         step, seconds)
        if os.path.exists(files[0]):
            verify(program, files, seed, {**outside, **dice.choice(environments)}, how)
    return inside


def storm(cc, kills, first_seed):
    """(kills survived, of them inside the runtime, failures)"""
    survived = inside = failures = 0
    folder = tempfile.mkdtemp(prefix="nvmove-storm.", dir=FOLDER)
    program = os.path.join(folder, "storm")
    subprocess.run([cc, "-O1", "-g", "-Wall", "-Wextra", "-Werror", os.path.join(HERE, "storm.c"), "-pthread",
                    "-o", program], check=True)
    for number, seed in enumerate(range(first_seed, first_seed + (kills + CAMPAIGN - 1) // CAMPAIGN)):
        environments, how = campaign_of(number)
        place = os.path.join(folder, str(seed))
        os.mkdir(place)
        try:
            inside += campaign(program, place, seed, environments, CAMPAIGN, how)
            survived += CAMPAIGN
            shutil.rmtree(place)
        except Wrong as e:
            failures += 1
            print(f"storm: seed {seed}, {environments} {how}: {e}; left in {place}")
    if not failures and is_blind(program, folder, first_seed):
        print("storm: operations that commit half-way were not noticed")
        failures += 1
    if not failures:
        shutil.rmtree(folder)
    return survived, inside, failures


def is_blind(program, folder, first_seed):
    """One campaign may kill at harmless moments only; several do not."""
    for seed in range(first_seed, first_seed + BROKEN_CAMPAIGNS):
        place = os.path.join(folder, f"broken{seed}")
        os.mkdir(place)
        try:
            campaign(program, place, seed, ENVIRONMENTS[:1], CAMPAIGN, ("broken",))
        except Wrong:
            return False
    return True


def check(cc, kills):
    """(passed, failed): for tests/run.py."""
    survived, inside, failures = storm(cc, kills, 1)
    print(f"storm: {survived} kills survived, {inside} of them inside the runtime")
    return survived, failures


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cc", required=True, help="nvmove-cc")
    p.add_argument("--kills", type=int, default=100)
    p.add_argument("--seed", type=int, default=1, help="of the first campaign")
    a = p.parse_args()
    survived, inside, failures = storm(os.path.abspath(a.cc), a.kills, a.seed)
    print(f"{survived} kills survived, {inside} of them inside the runtime, {failures} campaigns failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
