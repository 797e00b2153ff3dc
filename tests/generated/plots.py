"""Plots: operations of two or three threads in an order that single draws rarely give.

A plot is a list of operations as any other (program.py): each is tried, those that make no sense are left
out, and shrinking takes them one by one. A plot makes a situation likely, it promises nothing.
"""


def numbers(dice):
    return tuple(dice.getrandbits(20) for _ in range(6))


def same_place(dice, made):
    """Another value for the same element of the same field."""
    return (*made[:2], *numbers(dice)[2:])


def undone_under_hands(dice, threads):
    """A transaction whose lock and bytes were taken over, once or twice, is aborted in the meantime."""
    first, *others = threads
    lock, written = numbers(dice), numbers(dice)
    made = [(first, "begin", lock), (first, "lock", lock), (first, "store", written)]
    for other in others:
        made += [(threads[threads.index(other) - 1], "unlock", lock)]
        made += [(other, "begin", lock)] * dice.choice((0, 1, 1, 2))
        made += [(other, "lock", lock), (other, "load", written)] if dice.random() < 0.3 else \
            [(other, "lock", lock), (other, "store", same_place(dice, written))]
    if dice.random() < 0.3:
        made.append((others[-1], "unlock", lock))
    made += [(first, dice.choice(("abort", "abort", "unsafe")), lock), (first, "commit", lock)]
    for other in dice.sample(others, len(others)):
        made += [(other, "store", numbers(dice)), (other, dice.choice(("commit", "abort")), numbers(dice))]
    return made


def taken_back_and_forth(dice, threads):
    """A lock goes from one transaction to the other and back, with other locks in between."""
    lock, made = numbers(dice), []
    made += [(t, "begin", lock) for t in threads if dice.random() < 0.8]
    for _ in range(dice.randint(2, 5)):
        who = dice.choice(threads)
        made += [(who, "lock", lock), (who, "store", numbers(dice)), (who, "unlock", lock)]
    order = dice.sample(threads, len(threads))
    return made + [(t, dice.choice(("commit", "commit", "abort")), lock) for t in order]


def stored_over(dice, threads):
    """Pointers of several transactions lie over each other, once or back and forth; each may be unsafe."""
    lock, place, made = numbers(dice), numbers(dice), []
    for turn in range(dice.choice((1, 1, 2))):
        for who in threads:
            made += [(who, "begin", lock)] * (turn == 0)
            made += [(who, "lock", lock), (who, dice.choice(("push", "unlink", "unsafe")), place)]
            made += [(who, "unlock", lock)] * (turn == 0 or who != threads[-1])
    order = threads if dice.random() < 0.5 else dice.sample(threads, len(threads))
    return made + [(t, dice.choice(("commit", "commit", "commit", "abort")), lock) for t in order]


def half_each(dice, threads):
    """One stores a number, another says that it is a pointer; their commits become one."""
    lock, place = numbers(dice), numbers(dice)[:2]
    first, second = threads[:2]
    halves = [("decided", (*place, 2, *numbers(dice)[3:])), ("decide", (*place, 1, *numbers(dice)[3:]))]
    made = [(first, "begin", lock), (first, "lock", lock), (first, "decide", (*place, 2, *numbers(dice)[3:])),
            (first, "decided", (*place, dice.choice((0, 2)), *numbers(dice)[3:])), (first, "commit", lock)]
    made += [(t, "begin", lock) for t in (first, second)]
    made += [(first, *halves[0]), (first, "unlock", lock), (second, "lock", lock), (second, *halves[1])]
    made += [(second, "unlock", lock), (first, "lock", lock)] + [(first, "store", numbers(dice))]
    return made + [(t, "commit", lock) for t in dice.sample((first, second), 2)] + [(first, "commit", lock)]


def decided_by_another(dice, threads):
    """One makes an unsafe pointer, another says that it is a number: each is judged by its own stores."""
    lock, place = numbers(dice), numbers(dice)[:2]
    first, second = threads[:2]
    made = [(first, "begin", lock), (first, "lock", lock), (first, "decide", (*place, 1, *numbers(dice)[3:])),
            (first, "decided", (*place, 2, *numbers(dice)[3:])), (first, "unlock", lock)]
    made += [(second, "begin", lock), (second, "lock", lock)]
    made += [(second, "decide", (*place, 2, *numbers(dice)[3:])), (second, "unlock", lock)]
    return made + [(t, "commit", lock) for t in (first, second)]


def decided_in_turns(dice, threads):
    """A number that looks like an address of DRAM; then others store what decides about it, or that again."""
    lock, place, made = numbers(dice), numbers(dice)[:2], []

    def cell(kind, *third):
        return kind, (*place, *third, *numbers(dice)[len(third):4])

    first = threads[0]
    made += [(first, "begin", lock), (first, "lock", lock)]
    made += [(first, *cell("decide", 2 * dice.getrandbits(8))), (first, *cell("decided", 2))]
    made += [(first, dice.choice(("commit", "unlock")), lock), (first, "unlock", lock)]
    for who in dice.choices(threads, k=dice.randint(1, 4)):
        made += [(who, "begin", lock)] * dice.choice((0, 1, 1, 1))
        made += [(who, "lock", lock)]
        made += [(who, *cell(dice.choice(("decide", "decide", "decided", "decide_both", "copy_cell"))))
                 for _ in range(dice.choice((1, 1, 2)))]
        made += [(who, "unlock", lock)] * (dice.random() < 0.7)
        made += [(who, dice.choice(("commit", "commit", "abort")), lock)] * dice.choice((0, 1, 1))
    return made + [(t, "commit", lock) for t in dice.sample(threads, len(threads))]


FREES = ("pop", "drop", "resize", "replace", "pop_second")


def freed_under_hands(dice, threads):
    """A node in which an open transaction has stored is freed or moved by another one."""
    lock, place = numbers(dice), numbers(dice)
    first, second = threads[:2]
    made = [(first, "begin", lock), (first, "lock", lock)] + [(first, "push", place)] * dice.choice((1, 2, 3))
    made += [(first, "commit", lock), (first, "begin", lock)] * (dice.random() < 0.8)
    stores = ("node", "node", "node_unsafe", "push", "share")
    made += [(first, dice.choice(stores), same_slot(dice, place)) for _ in range(dice.choice((1, 1, 2)))]
    made += [(first, "unlock", lock), (second, "begin", lock), (second, "lock", lock)]
    made += [(second, "node", same_slot(dice, place))] * (dice.random() < 0.4)
    made += [(second, dice.choice(FREES), same_slot(dice, place))]
    made += [(second, "unlock", lock)] * (dice.random() < 0.7)
    if dice.random() < 0.3:
        again = ("push", "node", "node_link", "drop")
        made += [(first, "lock", lock), (first, dice.choice(again), same_slot(dice, place))]
    ends = [(first, dice.choice(("commit", "commit", "abort")), lock)]
    ends += [(second, dice.choice(("commit", "commit", "abort")), lock)]
    return made + dice.sample(ends, 2)


def linked_in_turns(dice, threads):
    """Links to a node from what an open transaction has just made, or by what another decides about it."""
    lock, place, cell = numbers(dice), numbers(dice), numbers(dice)[:2]
    first, second = threads[:2]
    made = [(first, "begin", lock), (first, "lock", lock)]
    made += [(first, "push", numbers(dice)) for _ in range(3)] + [(first, "decide", (*cell, 2, 0, 0, 0))]
    made += [(first, "commit", lock), (first, "begin", lock), (first, "unlink", place)]
    made += [(first, "push", place), (first, "decided", (*cell, 3, *numbers(dice)[3:]))]
    made += [(first, "unlock", lock)]
    made += [(second, "begin", lock), (second, "lock", lock)]
    changes = [("node_link", same_slot(dice, place)), ("decide", (*cell, *numbers(dice)[2:])),
               (dice.choice(("unlink", "push", "node_clear", "drop")), same_slot(dice, place))]
    made += [(second, *one) for one in dice.sample(changes, 2)] + [(second, "unlock", lock)]
    return made + [(t, dice.choice(("commit", "commit", "commit", "abort")), lock)
                   for t in dice.sample((first, second), 2)]


def same_slot(dice, place):
    return (place[0], *numbers(dice)[1:])


PLOTS = (undone_under_hands, undone_under_hands, taken_back_and_forth, stored_over, stored_over, stored_over,
         decided_in_turns, decided_in_turns, half_each, decided_by_another, decided_by_another,
         freed_under_hands, freed_under_hands, linked_in_turns, linked_in_turns)


def plot(dice, count):
    """For a program of so many threads, two at least."""
    threads = dice.sample(range(count), min(count, dice.choice((2, 2, 3))))
    return dice.choice(PLOTS)(dice, threads)
