"""Further operations: locks, transactions, nodes, calls back, signals (see ops.py)."""
from layout import NODE, NODE_BYTES
from model import BROKEN, LIFE, NULL, OK, OUTSIDE, key_of, need
from ops import (LOCKING, MASK, NAMES, OBJECTS_MAX, arrays, element, in_explicit, kind, numbers_of,
                 put_text, value, writes)


# Locks

def held_locks(p, thread, kinds=None):
    """Those that it has for itself."""
    found = [g for g, reads in sorted(thread.held.items())
             if not reads and (not kinds or p.lock_kinds[g] in kinds)]
    need(found)
    return found


@kind(12)
def lock(p, thread, n, op):
    g = n[0] % p.traits["locks"]
    need(not p.model.holders.get(g))
    p.model.acquire(thread, g)
    return [LOCKING[p.lock_kinds[g]][0] % g]


@kind(1)
def lock_shared(p, thread, n, op):
    found = [g for g in range(p.traits["locks"]) if p.lock_kinds[g] == "rwlock" and g not in thread.held]
    need(found)
    g = found[n[0] % len(found)]
    p.model.acquire(thread, g, reads=True)
    return [f"pthread_rwlock_rdlock(&gen_locks[{g}].rwlock);"]


def unlock_text(p, g):
    return LOCKING[p.lock_kinds[g]][1] % g


@kind(2)
def unlock(p, thread, n, op):
    """Inside a transaction, too: that hands it on."""
    need(thread.held)
    g = min(thread.held, key=lambda g: (g - n[0]) % p.traits["locks"])
    p.model.release(thread, g)
    return [unlock_text(p, g)]


def touch_model(p, thread, g):
    p.model.release(thread, g)
    p.model.acquire(thread, g)


@kind(3)
def touch(p, thread, n, op):
    """A lock is released and taken again between stores: by name, by waiting, in a function, in a library."""
    found = held_locks(p, thread)
    g = found[n[0] % len(found)]
    mutex = p.lock_kinds[g] == "mutex"
    form = n[1] % 5 if mutex else n[1] % 2
    touch_model(p, thread, g)
    pair = [unlock_text(p, g), LOCKING[p.lock_kinds[g]][0] % g]
    return (pair, pair, [f"gen_wait(&gen_locks[{g}]);"],
            [f"ext_touch(&gen_locks[{g}].mutex);"], [f"own_touch(&gen_locks[{g}].mutex);"])[form]


@kind(2)
def loop_touch(p, thread, n, op):
    """The same in a loop that stores."""
    f = p.pick(thread, n[0], arrays)
    writes(p, thread)
    g = held_locks(p, thread)
    g = g[n[1] % len(g)]
    said, start = value(p, thread, n[2])
    count = min(1 + n[3] % 8, f.count)
    place = f"w->{f.name}[i]" if n[4] & 1 else f"w->{f.name}[{n[5] % f.count}]"
    for i in range(count):
        at = i if n[4] & 1 else n[5] % f.count
        p.put(thread, 0, f.offset + at * f.width, f.width, start + i * 13)
        touch_model(p, thread, g)
    body = [f"{place} = (u{8 * f.width})({said} + i * 13);", unlock_text(p, g),
            LOCKING[p.lock_kinds[g]][0] % g]
    return [f"for (u64 i = 0; i < gen_in[{15 + count}]; i++) {{", *("  " + line for line in body), "}"]


# Transactions

@kind(3, ends_step=False)
def begin(p, thread, n, op):
    need(thread.depth < 3)
    allowed = OK if p.model.begin(thread) else BROKEN
    return [f"gen_check(nvm_tx_begin(gen_pool), 1 << {allowed}, {op});"]


@kind(5, ends_step=True)
def commit(p, thread, n, op):
    p.model.commit(thread, op)
    return [f"gen_check(nvm_tx_commit(gen_pool), ALLOWED({op}), {op});"]


@kind(1, ends_step=True)
def abort(p, thread, n, op):
    p.model.abort(thread)
    return [f"gen_check(nvm_tx_abort(gen_pool), 1, {op});"]


@kind(1)
def unsafe(p, thread, n, op):
    """An address of DRAM or of another pool: what it belongs to cannot commit. Outside transactions under the
    only lock that the thread holds, whose release undoes it."""
    f = p.pick(thread, n[0], lambda f: f.kind == "slot")
    if thread.depth:
        in_explicit(p, thread)
    else:
        writes(p, thread)
        need(len(thread.held) == 1 and not thread.live_deps())
    p.put_pointer(thread, 0, f.offset, OUTSIDE)
    outside = "gen_side" if p.traits["sides"] and n[1] & 1 else "gen_outside"
    return [f"w->{f.name} = (struct node *){outside};"]


@kind(1)
def unlink(p, thread, n, op):
    """Over whatever pointer is there."""
    f = p.pick(thread, n[0], lambda f: f.kind == "slot")
    p.put_pointer(thread, 0, f.offset, NULL)
    return [f"w->{f.name} = 0;"]


@kind(0, ends_step=True)
def end(p, thread, n, op):
    """The thread ends, and with it what it has written outside transactions."""
    need(not thread.has_lost)  # the process would stop
    need(not thread.held and not thread.depth and not thread.is_broken())
    p.model.end_implicit(thread)
    p.model.changes += 1
    thread.ended = True
    return []


@kind(2)
def cut(p, thread, n, op):
    """Here another function of the thread's goes on."""
    p.cut(thread)
    return []


# Nodes

def slot(p, thread, number):
    f = p.pick(thread, number, lambda f: f.kind == "slot")
    first = p.get_pointer(0, f.offset)
    need(first != OUTSIDE)
    return f, first


def new_object(p):
    need(p.model.objects < OBJECTS_MAX)
    p.model.objects += 1
    return p.model.objects - 1


def new_node(p, thread, number):
    obj = new_object(p)
    for i in range(NODE_BYTES):
        p.model.write(thread, key_of(obj, i), 0)
    p.put_pointer(thread, obj, NODE["next"], NULL)
    p.model.write(thread, key_of(obj, LIFE), 1)
    p.put(thread, obj, NODE["value"], 8, number)
    return obj


NEW = ["{ struct node *n = nvm_calloc(gen_pool, NVM_TYPE_ID(struct node), 1, sizeof *n);",
       "  if (!n) gen_check(-1, 0, {op});", "  gen_objects[{obj}] = (u64)(uintptr_t)n;",
       "  n->value = {said};"]


def new_text(**what):
    return [line.replace("{op}", str(what["op"])).replace("{obj}", str(what["obj"]))
            .replace("{said}", what["said"]) for line in NEW]


@kind(3)
def push(p, thread, n, op):
    f, first = slot(p, thread, n[0])
    in_explicit(p, thread)
    said, number = value(p, thread, n[1])
    obj = new_node(p, thread, number)
    p.put_pointer(thread, obj, NODE["next"], first)
    p.put_pointer(thread, 0, f.offset, ("p", obj, 0))
    return [*new_text(op=op, obj=obj, said=said), f"  n->next = w->{f.name}; w->{f.name} = n; }}"]


def is_there(p, pointer):
    need(pointer[1] > 0 and p.model.read(key_of(pointer[1], LIFE)))


def free(p, thread, obj):
    p.model.write(thread, key_of(obj, LIFE), 0)


@kind(5)
def node(p, thread, n, op):
    """A store to the first node of a list, or to the second."""
    f, first = slot(p, thread, n[0])
    writes(p, thread)
    is_there(p, first)
    place, obj = f"w->{f.name}->", first[1]
    second = p.get_pointer(obj, NODE["next"])
    if n[1] & 1 and second[1] > 0:
        is_there(p, second)
        place, obj = place + "next->", second[1]
    said, number = value(p, thread, n[3])
    form = n[2] % 5
    if form < 2:
        p.put(thread, obj, NODE["value"], 8, number + p.get(obj, NODE["value"], 8) * form & MASK)
        return [f"{place}value {'+=' if form else '='} {said};"]
    if form == 2:
        p.put(thread, obj, NODE["tag"], 2, number)
        return [f"{place}tag = (u16){said};"]
    if form == 3:
        put_text(p, thread, obj, NODE["name"], "n" * (n[4] % 14))
        return [f"strcpy({place}name, \"{'n' * (n[4] % 14)}\");"]
    for i in range(1 + n[4] % 24):
        p.put(thread, obj, NODE["raw"] + i, 1, n[5])
    return [f"memset({place}raw, {n[5] & 255}, {1 + n[4] % 24});"]


# Calls back

@kind(1)
def sort(p, thread, n, op):
    """qsort of a part of an array; its callback may store, or release a lock and take it again."""
    f = p.pick(thread, n[0], lambda f: arrays(f) and f.width == 4)
    target = p.pick(thread, n[1], lambda g: numbers_of(g) and g.width == 4 and g is not f)
    writes(p, thread)
    count = min(f.count, 3 + n[2] % 6)
    place, offset = element(target, n[3])
    form = n[4] % 3
    held = [g for g, reads in sorted(thread.held.items()) if not reads and p.lock_kinds[g] == "mutex"]
    lines = ["gen_back.at = NULL; gen_back.mutex = NULL;"]
    if form == 1:
        p.put(thread, 0, offset, 4, n[5])
        lines.append(f"gen_back.at = &{place}; gen_back.value = {n[5] & MASK};")
    if form == 2 and held and thread.depth:  # outside a transaction each release would end one
        touch_model(p, thread, held[0])
        lines.append(f"gen_back.mutex = &gen_locks[{held[0]}].mutex;")
    values = sorted(p.get(0, f.offset + i * 4, 4) for i in range(count))
    for i, one in enumerate(values):
        p.put(thread, 0, f.offset + i * 4, 4, one)
    return [*lines, f"qsort(w->{f.name}, {count}, 4, gen_compare);"]


@kind(1)
def signal(p, thread, n, op):
    """A handler that stores, in the thread, between two of its stores."""
    f = p.pick(thread, n[0], lambda f: numbers_of(f) and f.width == 4)
    writes(p, thread)
    # The very first store of a thread may not be a handler's.
    need(thread.tx and thread.tx.old)
    place, offset = element(f, n[1])
    p.put(thread, 0, offset, 4, n[2])
    return [f"gen_back.at = &{place}; gen_back.value = {n[2]}; raise(SIGUSR1);"]


@kind(1, ends_step=True)
def child(p, thread, n, op):
    """A forked child, in which nothing can be committed; with shadow it keeps what it has (harness.c)."""
    p.model.changes += 1
    return [f"gen_fork({op});"]


@kind(2)
def described(p, thread, n, op):
    """A function of a library that nvmove-cc did not see."""
    f = p.pick(thread, n[0], arrays)
    writes(p, thread)
    length = 1 + n[1] % f.size()
    for i in range(length):
        p.put(thread, 0, f.offset + i, 1, n[2] + 5 * i)
    return [f"ext_fill(w->{f.name}, {length}, {n[2]});"]
