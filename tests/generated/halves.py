"""What a crash may leave of transactions that wrote to two pools: each pool commits by itself.

A half is what a transaction wrote to one of them. It is not there without all that the transaction depends
on, but that of commits which became one a pool may have all and the other nothing.
"""
from model import SIDE, closed_subsets, newest


class Half:
    def __init__(self, tx, new):
        self.tx, self.new, self.when = tx, new, tx.when
        self.deps, self.count = set(), 1


def reaches(tx, goal, seen):
    """Whether it depends on that one, over others or not."""
    if tx is goal:
        return True
    seen.add(tx)
    return any(d not in seen and reaches(d, goal, seen) for d in tx.deps)


def split(transactions):
    made = {}
    for tx in transactions:
        parts = [{k: v for k, v in tx.new.items() if (k >> 16 == SIDE) == side} for side in (False, True)]
        halves = {side: Half(tx, parts[side]) for side in (False, True) if parts[side]}
        for half in halves.values():
            half.count = len(halves)
        made[tx] = halves or {False: Half(tx, {})}
    for tx, halves in made.items():
        for other in tx.deps & made.keys():
            together = reaches(other, tx, set())
            for side, half in halves.items():
                half.deps |= {h for s, h in made[other].items() if s == side or not together}
    return [half for halves in made.values() for half in halves.values()]


def states(transactions):
    """Changes that may be there, and the commits that they contain of those that wait."""
    for some in closed_subsets(split(transactions)):
        found = [half.tx for half in some]
        ops = {half.tx.op for half in some if found.count(half.tx) == half.count} - {None}
        yield newest(some), sorted(ops)
