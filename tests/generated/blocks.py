"""Operations that free, move and share nodes in which others may have stored meanwhile (see ops.py).

A slot's lock guards the nodes of its list. Slots and cells with one lock may lead to the same node; who frees
it changes all of them.
"""
from events import free, is_there, new_node, new_object, new_text, slot
from layout import NODE, NODE_BYTES
from model import LIFE, NULL, OUTSIDE, key_of, need
from ops import in_explicit, kind, value

NODE_KEYS = key_of(1, 0)
SIZES = (2 * NODE_BYTES, 5 * NODE_BYTES, 18 * NODE_BYTES)  # none fits into the block of one before


def leading_to(p, obj):
    """Keys in what is there."""
    return [k for k, v in p.model.memory.items()
            if v == ("p", obj, 0) and (k < NODE_KEYS or p.model.read(key_of(k >> 16, LIFE)))]


class Place:
    """A word of the root that may lead to a node."""

    def __init__(self, field, name, offset):
        self.field, self.name, self.offset = field, name, offset


def places(p):
    return [Place(f, f.name, f.offset) for f in p.layout.fields if f.kind == "slot"] + \
        [Place(cell.field, cell.place[3:] + ".p", cell.word_at) for cell in p.layout.cells]


def all_places(p, thread, obj):
    """Slots and cells that lead to the node; nothing else may."""
    found = leading_to(p, obj)
    some = [place for place in places(p) if key_of(0, place.offset) in found]
    need(len(some) == len(found) and all(p.is_held(thread, place.field) for place in some))
    return some


def free_text(number, op, what="n"):
    """By nvmove's function, or by the C library's."""
    return f"gen_check(nvm_free({what}), 1, {op});" if number & 3 else f"free({what});"


def alone(p, thread, number):
    """A slot with a node that may be freed: the slot, the node's number, all that leads to it."""
    f, first = slot(p, thread, number)
    in_explicit(p, thread)
    is_there(p, first)
    return f, first[1], all_places(p, thread, first[1])


# What a list has behind its first node may be what the same thread has put there just before: the compiler
# may leave out both stores, and the model counts them.
FRESH = '__asm__ volatile("" ::: "memory");'


def store_all(some, said):
    return " ".join(f"w->{place.name} = {said};" for place in some)


@kind(2)
def pop(p, thread, n, op):
    f, obj, all_ = alone(p, thread, n[0])
    for g in all_:
        p.put_pointer(thread, 0, g.offset, p.get_pointer(obj, NODE["next"]))
    free(p, thread, obj)
    return [f"{{ {FRESH} struct node *n = w->{f.name}; {store_all(all_, 'n->next')}",
            f"  {free_text(n[1], op)} }}"]


@kind(2)
def replace(p, thread, n, op):
    f, old, all_ = alone(p, thread, n[0])
    said, number = value(p, thread, n[1])
    obj = new_node(p, thread, number)
    p.put_pointer(thread, obj, NODE["next"], p.get_pointer(old, NODE["next"]))
    for g in all_:
        p.put_pointer(thread, 0, g.offset, ("p", obj, 0))
    free(p, thread, old)
    return [*new_text(op=op, obj=obj, said=said), f"  struct node *old = w->{f.name};",
            f"  n->next = old->next; {store_all(all_, 'n')} {free_text(n[2], op, 'old')} }}"]


@kind(2)
def drop(p, thread, n, op):
    """A list is lost but for its first node, which is freed."""
    f, obj, all_ = alone(p, thread, n[0])
    for g in all_:
        p.put_pointer(thread, 0, g.offset, NULL)
    free(p, thread, obj)
    return [f"{{ struct node *n = w->{f.name}; {store_all(all_, '0')}",
            f"  {free_text(n[1], op)} }}"]


@kind(1)
def pop_second(p, thread, n, op):
    f, first = slot(p, thread, n[0])
    in_explicit(p, thread)
    is_there(p, first)
    second = p.get_pointer(first[1], NODE["next"])
    is_there(p, second)
    need(len(leading_to(p, second[1])) == 1)
    p.put_pointer(thread, first[1], NODE["next"], p.get_pointer(second[1], NODE["next"]))
    free(p, thread, second[1])
    return [f"{{ {FRESH} struct node *n = w->{f.name}->next; w->{f.name}->next = n->next;",
            f"  {free_text(n[1], op)} }}"]


@kind(2)
def resize(p, thread, n, op):
    """Another object from here on: where it grows so much it cannot stay."""
    f, old, all_ = alone(p, thread, n[0])
    sizes = [size for size in SIZES if size > p.sizes.get(old, NODE_BYTES)]
    need(sizes)
    size, obj = sizes[n[1] % len(sizes)], new_object(p)
    p.sizes[obj] = size
    for i in range(NODE_BYTES):
        p.model.write(thread, key_of(obj, i), p.model.read(key_of(old, i)))
    p.model.write(thread, key_of(obj, LIFE), 1)
    free(p, thread, old)
    for g in all_:
        p.put_pointer(thread, 0, g.offset, ("p", obj, 0))
    call = f"nvm_realloc(gen_pool, w->{f.name}, {size})" if n[2] & 3 else f"realloc(w->{f.name}, {size})"
    return [f"{{ struct node *n = {call};", f"  if (!n) gen_check(-1, 0, {op});",
            f"  memset((char *)n + {NODE_BYTES}, 0, nvm_usable_size(n) - {NODE_BYTES});",
            f"  gen_objects[{obj}] = (u64)(uintptr_t)n;",
            f"  {store_all(all_, 'n')} }}"]


@kind(2)
def share(p, thread, n, op):
    """Another slot leads to a node of a list."""
    f, first = slot(p, thread, n[0])
    is_there(p, first)
    in_explicit(p, thread)
    guard = p.guards[f.index]
    g = p.pick(thread, n[1], lambda g: g.kind == "slot" and g is not f and p.guards[g.index] == guard)
    to, said = first, f"w->{f.name}"
    second = p.get_pointer(first[1], NODE["next"])
    if n[2] & 1 and second[1] > 0:
        to, said = second, said + "->next"
        is_there(p, second)
    need(p.get_pointer(0, g.offset) != to)  # a compiler that knows this leaves the store out
    p.put_pointer(thread, 0, g.offset, to)
    return [f"w->{g.name} = {said};"]


@kind(3)
def node_link(p, thread, n, op):
    """A node leads to another one, in no cycle: that of any slot with the same lock."""
    f, first = slot(p, thread, n[0])
    in_explicit(p, thread)
    is_there(p, first)
    guard = p.guards[f.index]
    g = p.pick(thread, n[1], lambda g: g.kind == "slot" and g is not f and p.guards[g.index] == guard)
    to = p.get_pointer(0, g.offset)
    at = to
    while at[1] > 0:
        need(at != first)
        is_there(p, at)
        at = p.get_pointer(at[1], NODE["next"])
    need(to[1] > 0 and p.get_pointer(first[1], NODE["next"]) != to)  # as in share
    p.put_pointer(thread, first[1], NODE["next"], to)
    return [f"w->{f.name}->next = w->{g.name};"]


@kind(1)
def node_unsafe(p, thread, n, op):
    """An address of DRAM in a node: whoever stored it cannot commit, but where it frees the node itself."""
    f, first = slot(p, thread, n[0])
    in_explicit(p, thread)
    is_there(p, first)
    p.put_pointer(thread, first[1], NODE["next"], OUTSIDE)
    return [f"w->{f.name}->next = (struct node *)gen_outside;"]


@kind(1)
def node_clear(p, thread, n, op):
    f, first = slot(p, thread, n[0])
    in_explicit(p, thread)
    is_there(p, first)
    p.put_pointer(thread, first[1], NODE["next"], NULL)
    return [f"w->{f.name}->next = 0;"]
