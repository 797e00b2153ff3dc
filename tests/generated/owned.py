"""Operations on a node that only one function knows, from a function declared `malloc` (see ops.py).

Commits and aborts come between its stores. A compiler may believe that they cannot reach it.
"""
from events import is_there, new_node, put_text, slot
from layout import NODE
from ops import NAMES, in_explicit, kind, value

MASK = (1 << 64) - 1


def owned(p, thread):
    """The node's number."""
    text = p.texts[thread.number]
    is_there(p, ("p", text.own, 0))
    return text.own


@kind(1)
def own_make(p, thread, n, op):
    in_explicit(p, thread)
    said, number = value(p, thread, n[0])
    obj = p.texts[thread.number].own = new_node(p, thread, number)
    return [f"own = gen_make({obj}, {op});", f"own->value = {said};"]


@kind(3)
def own_store(p, thread, n, op):
    in_explicit(p, thread)
    obj = owned(p, thread)
    said, number = value(p, thread, n[0])
    form = n[1] % 4
    if form == 3:
        put_text(p, thread, obj, NODE["name"], "o" * (n[2] % 14))
        return [f"strcpy(own->name, \"{'o' * (n[2] % 14)}\");"]
    if form == 2:
        p.put(thread, obj, NODE["tag"], 2, number)
        return [f"own->tag = (u16){said};"]
    p.put(thread, obj, NODE["value"], 8, number + p.get(obj, NODE["value"], 8) * form & MASK)
    return [f"own->value {'+=' if form else '='} {said};"]


@kind(2)
def own_load(p, thread, n, op):
    obj, i = owned(p, thread), n[0] % 4
    p.values(thread)[i] = p.values(thread)[i] * 31 + p.get(obj, NODE["value"], 8) & MASK
    return [f"{NAMES[i]} = {NAMES[i]} * 31 + own->value;"]


@kind(1)
def own_link(p, thread, n, op):
    """From here on others may store to it."""
    f, first = slot(p, thread, n[0])
    in_explicit(p, thread)
    obj = owned(p, thread)
    p.put_pointer(thread, obj, NODE["next"], first)
    p.put_pointer(thread, 0, f.offset, ("p", obj, 0))
    p.texts[thread.number].own = 0
    return [f"own->next = w->{f.name}; w->{f.name} = own; own = 0;"]
