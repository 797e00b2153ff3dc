"""The operations of programs: what each does to the model, and its C text.

A function per kind gets the program, the thread, six random numbers and the operation's own number; it
changes the model and gives lines of C, or raises Invalid before it has changed anything. The text works on
`w`, the root in the pool, and on the locals a, b, c, d, whose values the model follows.
"""
from layout import BITS, UNION
from model import key_of, need

MASK = (1 << 64) - 1
OBJECTS_MAX = 44
LOCK_KINDS = ("mutex", "mutex", "mutex", "rwlock", "spin", "semaphore", "mtx")
LOCKING = {
    "mutex": ("pthread_mutex_lock(&gen_locks[%d].mutex);", "pthread_mutex_unlock(&gen_locks[%d].mutex);"),
    "rwlock": ("pthread_rwlock_wrlock(&gen_locks[%d].rwlock);",
               "pthread_rwlock_unlock(&gen_locks[%d].rwlock);"),
    "spin": ("pthread_spin_lock(&gen_locks[%d].spin);", "pthread_spin_unlock(&gen_locks[%d].spin);"),
    "semaphore": ("sem_wait(&gen_locks[%d].semaphore);", "sem_post(&gen_locks[%d].semaphore);"),
    "mtx": ("mtx_lock(&gen_locks[%d].mtx);", "mtx_unlock(&gen_locks[%d].mtx);"),
}
NAMES = "abcd"
NODES = ("push", "pop", "replace", "node", "drop", "pop_second", "resize", "share", "node_clear",
         "node_link", "own_make", "own_store", "own_load", "own_link")
KINDS = {}
LEFT_OUT = set()  # kinds that are never tried, so that what lies behind a known defect is found


class Kind:
    def __init__(self, make, weight, ends_step):
        self.make, self.weight, self.ends_step = make, weight, ends_step


def kind(weight, ends_step=False, name=None):
    def enter(function):
        KINDS[name or function.__name__.rstrip("_")] = Kind(function, weight, ends_step)
        return function
    return enter


def weights(traits):
    """How often each kind is tried, in a program of these traits."""
    factor = {"unlock": 1 + 2 * traits["early"], "abort": traits["abort"], "unsafe": traits["abort"] > 0,
              **dict.fromkeys(("side_store", "side_load"), traits["sides"] > 0),
              "begin": 1 if traits["outside"] else 4,
              "node_unsafe": traits["nodes"] * (traits["abort"] > 0), **dict.fromkeys(NODES, traits["nodes"]),
              **dict.fromkeys(("decide", "decided", "decide_both", "copy_cell"), traits["cells"])}
    names = [n for n in KINDS if n not in LEFT_OUT]
    return names, [KINDS[n].weight * factor.get(n, 1) for n in names]


def value(p, thread, number):
    """An expression of 64 bits, and its value. A constant is odd: `x ^= 0` would be no store at all."""
    values, i, constant = p.values(thread), number % 4, (number >> 4) * 2654435761 & 0xffffffff | 1
    form = number >> 2 & 3
    if form == 0:
        return f"{constant}u", constant
    if form == 1:
        return NAMES[i], values[i]
    if form == 2:
        return f"({NAMES[i]} ^ {constant}u)", values[i] ^ constant
    return f"({NAMES[i]} + {constant}u)", values[i] + constant & MASK


def numbers_of(field):
    return field.kind in ("scalar", "array")


def arrays(field):
    return field.kind == "array"


def texts(field):
    return field.kind == "text"


def element(field, number):
    """Text and offset of one of its elements."""
    i = number % field.count
    return f"w->{field.name}" + (f"[{i}]" if field.count > 1 else ""), field.offset + i * field.width


def writes(p, thread):
    """Raises Invalid where the thread may not write at all; before anything was changed."""
    if thread.tx:
        need(not (thread.tx.implicit and p.model.waiting_for(thread.tx)))
    else:
        need(not thread.is_broken())


def in_explicit(p, thread):
    need(thread.depth)
    writes(p, thread)


# Stores

@kind(10)
def store(p, thread, n, op):
    f = p.pick(thread, n[0], numbers_of)
    writes(p, thread)
    place, offset = element(f, n[1])
    text, new = value(p, thread, n[2])
    old, sign = p.get(0, offset, f.width), ("=", "=", "+=", "^=")[n[3] % 4]
    new = {"=": new, "+=": old + new, "^=": old ^ new}[sign]
    p.put(thread, 0, offset, f.width, new)
    return [f"{place} {sign} (u{8 * f.width}){text};"]


@kind(4)
def branch(p, thread, n, op):
    """One of two stores, by a value that the compiler does not know."""
    f, g = p.pick(thread, n[0], numbers_of), p.pick(thread, n[1], numbers_of)
    writes(p, thread)
    (first, first_at), (second, second_at) = element(f, n[2]), element(g, n[3])
    text, new = value(p, thread, n[4])
    i, bit = n[5] % 4, n[5] >> 2 & 31
    taken = p.values(thread)[i] >> bit & 1
    p.put(thread, 0, *((first_at, f.width) if taken else (second_at, g.width)), new)
    return [f"if ({NAMES[i]} >> {bit} & 1)", f"  {first} = (u{8 * f.width}){text};", "else",
            f"  {second} = (u{8 * g.width}){text};"]


@kind(6)
def load(p, thread, n, op):
    f = p.pick(thread, n[0], numbers_of, reads=True)
    place, offset = element(f, n[1])
    i = n[2] % 4
    p.values(thread)[i] = p.values(thread)[i] * 31 + p.get(0, offset, f.width) & MASK
    return [f"{NAMES[i]} = {NAMES[i]} * 31 + {place};"]


@kind(2)
def mix(p, thread, n, op):
    """A call that the compiler knows nothing of, between stores: all four locals live across it."""
    v, i, j = p.values(thread), n[0] % 4, n[1] % 4
    v[i] = v[i] * 31 + (v[j] ^ v[j] >> 7) & MASK
    return [f"{NAMES[i]} = ext_mix({NAMES[i]}, {NAMES[j]});"]


def part(field, n, m):
    """A range of its elements: first, behind the last."""
    first = n % field.count
    return first, first + 1 + m % (field.count - first)


@kind(4)
def fill(p, thread, n, op):
    """A loop over a part of an array; its bound may be unknown."""
    f = p.pick(thread, n[0], arrays)
    writes(p, thread)
    first, end = part(f, n[1], n[2])
    text, start = value(p, thread, n[3])
    bound, end = bounded(first, end, n[4])
    for i in range(first, end):
        p.put(thread, 0, f.offset + i * f.width, f.width, start + i * 77)
    return [f"for (u64 i = {first}; i < {bound}; i++)",
            f"  w->{f.name}[i] = (u{8 * f.width})({text} + i * 77);"]


def bounded(first, end, number):
    """The end of a loop as a constant, or as a small number of gen_in that the compiler does not know."""
    count = min(end - first, 8)
    return (str(end), end) if number & 1 else (f"{first} + gen_in[{15 + count}]", first + count)


@kind(2)
def clear(p, thread, n, op):
    f = p.pick(thread, n[0], arrays)
    writes(p, thread)
    first, end = part(f, n[1], n[2])
    for i in range(first * f.width, end * f.width):
        p.put(thread, 0, f.offset + i, 1, n[3])
    return [f"memset(&w->{f.name}[{first}], {n[3] & 255}, {(end - first) * f.width});"]


@kind(2)
def copy(p, thread, n, op):
    """From DRAM, or within the array, where it may overlap."""
    f = p.pick(thread, n[0], arrays)
    writes(p, thread)
    first, end = part(f, n[1], n[2])
    length = min((end - first) * f.width, 128)
    if n[3] & 1:
        source = b"".join(v.to_bytes(8, "little") for v in p.inputs[:16])[:length]
        text = "gen_in"
    else:
        start = n[4] % (f.count - length // f.width + 1)
        need(start != first)  # onto itself: no store at all
        source = bytes(p.get(0, f.offset + start * f.width + i, 1) for i in range(length))
        text = f"&w->{f.name}[{start}]"
    for i, byte in enumerate(source):
        p.put(thread, 0, f.offset + first * f.width + i, 1, byte)
    return [f"{'memcpy' if n[3] & 1 else 'memmove'}(&w->{f.name}[{first}], {text}, {length});"]


def put_text(p, thread, obj, offset, text):
    for i, byte in enumerate(text.encode() + b"\0"):
        p.put(thread, obj, offset + i, 1, byte)


@kind(2)
def text(p, thread, n, op):
    f = p.pick(thread, n[0], texts)
    writes(p, thread)
    i = n[2] % 4
    number = p.values(thread)[i] & 0xffff
    if n[1] & 1:
        said = "x" * (n[3] % (f.count - 1))
        put_text(p, thread, 0, f.offset, said)
        return [f"strcpy(w->{f.name}, \"{said}\");"]
    put_text(p, thread, 0, f.offset, f"{number}-{n[3] % 1000}")
    return [f"snprintf(w->{f.name}, {f.count}, \"%u-%u\", (unsigned)({NAMES[i]} & 0xffff), {n[3] % 1000}u);"]


@kind(1)
def parse(p, thread, n, op):
    """strtol, whose end pointer lies in the pool and leads into it."""
    f, end = p.pick(thread, n[0], texts), p.pick(thread, 0, lambda f: f.kind == "end")
    writes(p, thread)
    i, digits = n[1] % 4, str(n[2] % 100000)
    put_text(p, thread, 0, f.offset, digits + ";")
    p.put_pointer(thread, 0, end.offset, ("p", 0, f.offset + len(digits)))
    p.values(thread)[i] = p.values(thread)[i] + int(digits) & MASK
    return [f"strcpy(w->{f.name}, \"{digits};\");",
            f"{NAMES[i]} += (u64)strtol(w->{f.name}, &w->{end.name}, 10);"]


@kind(2)
def bits(p, thread, n, op):
    f = p.pick(thread, n[0], lambda f: f.kind in BITS)
    writes(p, thread)
    bytes_, widths = BITS[f.kind]
    member = n[1] % len(widths)
    shift, mask = sum(widths[:member]), (1 << widths[member]) - 1
    said, new = value(p, thread, n[2])
    old = p.get(0, f.offset, bytes_)
    p.put(thread, 0, f.offset, bytes_, old & ~(mask << shift) | (new & mask) << shift)
    return [f"w->{f.name}.m{member} = {said};"]


@kind(2)
def union(p, thread, n, op):
    f = p.pick(thread, n[0], lambda f: f.kind == UNION)
    writes(p, thread)
    name, width = (("q", 8), ("d", 4), ("h", 2), ("b", 1))[n[1] % 4]
    i = n[2] % (8 // width)
    said, new = value(p, thread, n[3])
    p.put(thread, 0, f.offset + i * width, width, new)
    return [f"w->{f.name}.{name}" + (f"[{i}]" if width < 8 else "") + f" = (u{8 * width}){said};"]


@kind(3)
def heavy(p, thread, n, op):
    """A loop with a store and more live values than registers."""
    f = p.pick(thread, n[0], lambda f: f.kind == "array" and f.width == 8)
    writes(p, thread)
    count, names = 1 + n[1] % 8, "abcdefghijkl"
    v = p.values(thread) + [p.inputs[(n[2] + i) % 16] for i in range(8)]
    total = 0
    for x in range(count):
        p.put(thread, 0, f.offset + x % f.count * 8, 8, v[1])
        v[0] = v[0] + (v[2] ^ x) & MASK
        v[1] = v[1] * 3 + v[3] & MASK
        v[2] ^= v[4]
        v[3] = v[3] + v[5] & MASK
        v[4] = (v[4] << 1 & MASK) ^ v[6]
        v[5] = v[5] + v[7] & MASK
        v[6] ^= v[8]
        v[7] = v[7] + v[9] & MASK
        v[8] = v[8] * 5 + v[10] & MASK
        v[9] ^= v[11]
        v[10] = v[10] + v[0] & MASK
        v[11] = v[11] + v[1] & MASK
        for one in v:
            total = total * 3 + one & MASK
    p.values(thread)[:] = [total, v[1], v[2], v[3]]
    starts = ", ".join(f"{names[4 + i]} = gen_in[{(n[2] + i) % 16}]" for i in range(8))
    sums = "".join(f" s = s * 3 + {x};" for x in names)
    return [f"{{ u64 s = 0, {starts};", f"  for (u64 x = 0; x < gen_in[{15 + count}]; x++) {{",
            f"    w->{f.name}[x % {f.count}] = b;",
            "    a += c ^ x; b = b * 3 + d; c ^= e; d += f; e = (e << 1) ^ g; f += h; g ^= i; h += j;"
            " i = i * 5 + k; j ^= l; k += a; l += b;", "   " + sums, "  }", "  a = s; }"]
