"""Operations on a second pool, in the transactions of the first (see ops.py): seven numbers in a block."""
from model import SIDE, need
from ops import MASK, NAMES, kind, value, writes

NUMBERS = 7


def place(p, thread, number, reads=False):
    held = thread.held.get(p.side_guard)
    need(p.traits["sides"] and (held is False or (held is True and reads)))
    return number % NUMBERS


@kind(8)
def side_store(p, thread, n, op):
    i = place(p, thread, n[0])
    writes(p, thread)
    said, new = value(p, thread, n[1])
    if n[2] & 1:
        new = p.get(SIDE, 8 * i, 8) + new & MASK
    p.put(thread, SIDE, 8 * i, 8, new)
    return [f"gen_side[{i}] {'+=' if n[2] & 1 else '='} {said};"]


@kind(2)
def side_load(p, thread, n, op):
    i, j = place(p, thread, n[0], reads=True), n[1] % 4
    p.values(thread)[j] = p.values(thread)[j] * 31 + p.get(SIDE, 8 * i, 8) & MASK
    return [f"{NAMES[j]} = {NAMES[j]} * 31 + gen_side[{i}];"]
