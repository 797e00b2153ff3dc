"""Operations on cells, in which one member decides whether another is a pointer (cells.py; see ops.py)."""
from judge import unsafe
from model import NULL, OUTSIDE, key_of, need
from ops import kind, writes


def a_cell(p, thread, n):
    f = p.pick(thread, n[0], lambda f: f.kind == "cell")
    writes(p, thread)
    return f.cell(n[1] % f.count)


def tag_after(p, cell, number):
    """Text of a value for what decides, and its bytes then; odd numbers make a pointer of the word."""
    f = cell.field
    _, width, first, bits = f.decider
    listed = f.listed if (number & 1) != f.unless else f.numbers
    value = listed[(number >> 1) % len(listed)]
    mask = (1 << bits) - 1 << first
    return value, p.get(0, cell.tag_at, width) & ~mask | value << first & mask


def word_after(p, cell, number):
    """Text of an address, and the model's value. A node's is that of a slot with the same lock."""
    form = number % 5
    if form == 0:
        return "0", NULL
    guard = p.guards[cell.field.index]
    slots = [f for f in p.layout.fields
             if f.kind == "slot" and p.guards[f.index] == guard and p.get_pointer(0, f.offset)[1] > 0]
    if form == 3 and slots:
        f = slots[(number >> 3) % len(slots)]
        return f"w->{f.name}", p.get_pointer(0, f.offset)
    if form in (1, 3):
        at = (number >> 2) % p.layout.bytes
        return f"(char *)w + {at}", ("p", 0, at)
    return "gen_outside", OUTSIDE


def stays_safe(p, thread, cell, word=None, tag=None):
    """Needed outside transactions, and in programs without commits that fail."""
    after = {}
    if word is not None:
        after[key_of(0, cell.word_at)] = word
    if tag is not None:
        after.update({key_of(0, cell.tag_at + i): tag >> 8 * i & 255 for i in range(cell.field.decider[1])})
    return not any(unsafe(c, lambda key: after[key] if key in after else p.model.read(key))
                   for c in cell.field.cells() if c.tag_at == cell.tag_at)


def need_safe(p, thread, *cell, **after):
    need((thread.depth and p.traits["abort"]) or stays_safe(p, thread, *cell, **after))


def put_tag(p, thread, cell, tag):
    p.put(thread, 0, cell.tag_at, cell.field.decider[1], tag)


def store_word(p, thread, cell, said, number):
    member, type_ = ("p", "struct node *") if number & 1 else ("n", "u64)(uintptr_t")
    return f"{cell.place}.{member} = ({type_})({said});"


@kind(4)
def decide(p, thread, n, op):
    """What decides, alone: an old number may become a pointer."""
    cell = a_cell(p, thread, n)
    value, tag = tag_after(p, cell, n[2])
    need_safe(p, thread, cell, tag=tag)
    put_tag(p, thread, cell, tag)
    return [f"{cell.tag_place} = {value};"]


@kind(4)
def decided(p, thread, n, op):
    """What is decided, alone."""
    cell = a_cell(p, thread, n)
    said, word = word_after(p, cell, n[2])
    need_safe(p, thread, cell, word=word)
    p.put_pointer(thread, 0, cell.word_at, word)
    return [store_word(p, thread, cell, said, n[3])]


@kind(3)
def decide_both(p, thread, n, op):
    cell = a_cell(p, thread, n)
    value, tag = tag_after(p, cell, n[2])
    said, word = word_after(p, cell, n[3])
    need_safe(p, thread, cell, word=word, tag=tag)
    put_tag(p, thread, cell, tag)
    p.put_pointer(thread, 0, cell.word_at, word)
    lines = [f"{cell.tag_place} = {value};", store_word(p, thread, cell, said, n[4])]
    return lines if n[5] & 1 else lines[::-1]


@kind(1)
def copy_cell(p, thread, n, op):
    """A whole record onto another: both members at once."""
    f = p.pick(thread, n[0], lambda f: f.kind == "cell" and f.own and f.count > 1)
    writes(p, thread)
    to, source = n[1] % f.count, n[2] % f.count
    need(to != source)
    start, cell = f.offset + source * f.stride, f.cell(to)
    bytes_ = [p.model.read(key_of(0, start + i)) for i in range(f.stride)]
    tag = p.get(0, f.cell(source).tag_at, f.decider[1])
    need_safe(p, thread, cell, word=bytes_[f.word_at], tag=tag)
    for i, one in enumerate(bytes_):
        p.model.write(thread, key_of(0, f.offset + to * f.stride + i), one)
    return [f"memcpy(&w->{f.name}[{to}], &w->{f.name}[{source}], sizeof w->{f.name}[0]);"]
