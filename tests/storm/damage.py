#!/usr/bin/env python3
"""Damages pools that a crash has left, and counts what becomes of them.

usage: damage.py --cc NVMOVE_CC [--images N] [--seed N] [--keep DIR]

storm.c is killed with undo and with shadow, with locks held to the commit and released early. Each file it
leaves is damaged again and again in one place: bits, words, lines, sectors, pages, lines that change places,
a file cut short. Then it is opened, recovered and compared with what was acknowledged. What becomes of it:

  refused       the opening fails, and says why
  right         all is there
  told          the opening succeeds, and nvmove pool check finds the damage; not of what an opening must
                not believe (BELIEVED_NEVER)
  earlier       a pool whose commits do not wait is as it was at an earlier moment, which no sync had covered
  not covered   docs/reference/semantics.md, "Not covered": bytes and tables of blocks, counts, replay floor,
                a log's last
  LOST          anything else: it opens, nobody says anything, and the data is wrong
  DIED          the opening, or the check, crashed or did not end

With --keep the files of each LOST and DIED are copied to DIR: as the crash left it, damaged, progress.
Exit status: 1 if any is LOST or DIED. The last line is "N passed, N failed".
"""
import argparse
import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import storm  # noqa: E402
from image import LINE, Image  # noqa: E402

PER_POOL = 50
KILLS = 6          # of a pool, before the one whose file is damaged, at most
SECONDS_MAX = 20
WAYS = ("bit", "byte", "word zero", "word ones", "line zero", "line random", "sector zero", "page zero",
        "lines swapped", "cut short")
WEIGHT = {"log": 6, "chunk table": 2, "blocks": 2}
SHOWN_MAX = 20
NOT_COVERED = {"blocks", "chunk table", "span table", "table of counts", "replay floor", "last entry"}

# Each has a checksum, or a copy, and what proves that none is missing.
BELIEVED_NEVER = {"header", "root", "log", "log slots", "log segment's head", "static data", "head of counts",
                  "batch", "reference record"}


def run(command, environment):
    """(status, what was said); status None: it did not end."""
    try:
        done = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, errors="replace", timeout=SECONDS_MAX)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return None, "did not end"


class Damage:
    """One place of an image."""

    def __init__(self, image, dice):
        by_part = collections.defaultdict(list)
        for part in image.parts:
            by_part[part[0]].append(part)
        names = sorted(by_part)
        self.part = dice.choices(names, [WEIGHT.get(n, 1) for n in names])[0]
        _, start, size = dice.choice(by_part[self.part])
        self.at, self.way = start + dice.randrange(size), dice.choice(WAYS)
        self.data = bytearray(image.data)
        self.make(image, dice, start, size)

    def fill(self, unit, make):
        first = self.at // unit * unit
        self.data[first:first + unit] = make(unit)
        self.touched = range(first, first + unit)

    def make(self, image, dice, start, size):
        self.touched = range(self.at, self.at + 1)
        if self.way == "bit":
            self.data[self.at] ^= 1 << dice.randrange(8)
        elif self.way == "byte":
            self.data[self.at] = dice.randrange(256)
        elif self.way == "lines swapped":
            a, b = (x // LINE * LINE for x in (self.at, start + dice.randrange(size)))
            self.data[a:a + LINE], self.data[b:b + LINE] = image.data[b:b + LINE], image.data[a:a + LINE]
            self.touched = [*range(a, a + LINE), *range(b, b + LINE)]
        elif self.way == "cut short":
            del self.data[self.at:]
            self.touched = range(self.at, len(image.data))
        else:
            unit, what = self.way.split()
            unit = {"word": 8, "line": LINE, "sector": 512, "page": 4096}[unit]
            self.fill(unit, {"zero": bytes, "ones": lambda n: b"\xff" * n, "random": dice.randbytes}[what])

    def changed(self, image):
        return [at for at in self.touched if at >= len(self.data) or self.data[at] != image.data[at]]

    def parts(self, image):
        """All that it has changed: names, with "last entry" for the last of a log."""
        changed, found = self.changed(image), set()
        for name, start, size in image.parts:
            inside = [at for at in changed if start <= at < start + size]
            if inside:
                found.add("last entry" if name == "log" and image.are_last(changed) else name)
        return found


def crashed_pool(program, folder, seed, dice):
    """(its path, progress, environment, arguments) of a file that a kill left."""
    environments, how = storm.campaign_of(seed)
    files = [os.path.join(folder, "pool"), os.path.join(folder, "progress")]
    outside = {k: v for k, v in os.environ.items() if not k.startswith("NVMOVE_")}
    environment = {**outside, **dice.choice(environments)}
    kills = dice.randint(1, KILLS)
    while kills > 0 or not os.path.exists(files[0]) or not is_whole(files[0]):
        step, seconds = storm.kill_of(dice, os.path.exists(files[0]))
        if os.path.exists(files[0]):  # a kill may leave an operation that nobody knew of
            storm.verify(program, files, seed, environment, how)
        storm.killed([program, "run", *files, str(seed), *how], environment, step, seconds)
        kills -= 1
    return files, environment, [str(seed), *how]


def is_whole(path):
    """Creation was over, and the last use was not."""
    with open(path, "rb") as f:
        head = f.read(512)
    return head[:8] == b"\x89NVMPOOL" and head[104] == 2


class Campaign:
    def __init__(self, cc, folder, keep=None):
        self.folder, self.keep, self.nvmove = folder, keep, os.path.join(os.path.dirname(cc), "nvmove")
        self.program = os.path.join(folder, "storm")
        subprocess.run([cc, "-O1", "-g", os.path.join(storm.HERE, "storm.c"), "-pthread", "-o", self.program],
                       check=True)
        self.counts, self.shown = collections.Counter(), 0

    def judge(self, damage, image, files, environment, rest):
        status, said = run([self.program, "verify", *files, *rest], environment)
        if status == 0:
            return "right", said
        if status == 3:
            return "refused", said
        parts = damage.parts(image)
        if parts and parts <= {"log", "last entry"} and image.is_behind_syncs(damage.changed(image)) and \
                run([self.program, "verify", *files, *rest, "cut"], environment)[0] == 0:
            return "earlier", said
        checked, heard = run([self.nvmove, "pool", "check", files[0]], environment)
        if checked not in (0, 1, 2):
            return "DIED", f"pool check: {checked}: {heard}"
        if checked and parts <= BELIEVED_NEVER and parts:
            return "LOST", f"{sorted(parts)}: {status}: {said}; only the check told: {heard}"
        if checked:
            return "told", heard
        if parts and parts <= NOT_COVERED:
            return "not covered", said
        return ("DIED" if status is None or status < 0 else "LOST"), f"{sorted(parts)}: {status}: {said}"

    def pool(self, seed, count):
        dice, place = random.Random(seed), os.path.join(self.folder, str(seed))
        os.mkdir(place)
        files, environment, rest = crashed_pool(self.program, place, seed, dice)
        with open(files[0], "rb") as f:
            image = Image(f.read())
        with open(files[1], "rb") as f:
            progress = f.read()
        for number in range(count):
            damage = Damage(image, dice)
            for path, data in zip(files, (damage.data, progress)):
                with open(path, "wb") as f:
                    f.write(data)
            verdict, said = self.judge(damage, image, files, environment, rest)
            self.counts[damage.part, verdict] += 1
            if verdict.isupper() and self.shown < SHOWN_MAX:
                self.shown += 1
                self.keep_files(f"{seed}.{number}", image.data, damage.data, progress)
                print(f"seed {seed}, damage {number}: {damage.part}, {damage.way} at {damage.at:#x}: "
                      f"{verdict}: {said.strip()[-300:]}", flush=True)
        shutil.rmtree(place)

    def keep_files(self, name, *contents):
        if not self.keep:
            return
        os.makedirs(self.keep, exist_ok=True)
        for what, data in zip(("before", "damaged", "progress"), contents):
            with open(os.path.join(self.keep, f"{name}.{what}"), "wb") as f:
                f.write(data)

    def print_table(self):
        verdicts = ("refused", "right", "told", "earlier", "not covered", "LOST", "DIED")
        print(f"{'damaged':20}" + "".join(f"{v:>12}" for v in verdicts))
        for part in [*sorted({p for p, _ in self.counts}), None]:
            numbers = [sum(n for (p, w), n in self.counts.items() if w == v and part in (p, None))
                       for v in verdicts]
            print(f"{part or 'all':20}" + "".join(f"{n:12}" for n in numbers))


def check(cc, images, seed=1, keep=None):
    """(passed, failed): for tests/run.py."""
    folder = tempfile.mkdtemp(prefix="nvmove-damage.", dir=storm.FOLDER)
    campaign = Campaign(os.path.abspath(cc), folder, keep)
    for first in range(0, images, PER_POOL):
        campaign.pool(seed + first // PER_POOL, min(PER_POOL, images - first))
    shutil.rmtree(folder)
    campaign.print_table()
    failed = sum(n for (_, verdict), n in campaign.counts.items() if verdict.isupper())
    return images - failed, failed


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cc", required=True)
    p.add_argument("--images", type=int, default=500)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep", help="folder for the files of what is lost")
    a = p.parse_args()
    passed, failed = check(a.cc, a.images, a.seed, a.keep)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
