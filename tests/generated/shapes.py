"""A random record: its C text, and what each of its words is (records.py).

Leaf: a word that is looked at: its place as a C expression for offsetof, its kind, its tag. Decider: a member
that decides about words of a union; it gets a value that makes them pointers, or one that does not.
"""

# Kinds, as in records.h: what is stored there.
POINTER, WEAK, FUNCTION, CONSTANT, NUMBER, EITHER, DORMANT, UNDECIDED = range(8)
TAGS = ("7", "0xffffull << 48", "(0xffull << 56) | 1")
PLAIN = ("char", "short", "int", "double", "unsigned char", "_Bool")
DEPTH_MAX = 3


class Leaf:
    def __init__(self, path, kind, tag="0"):
        self.path, self.kind, self.tag = path, kind, tag

    def inside(self, prefix):
        return Leaf(prefix + self.path, self.kind, self.tag)


class Decider:
    """`path`: of the member; `others`: a value for which the words are no pointers."""

    def __init__(self, path, value, other):
        self.path, self.value, self.other = path, value, other


class Shape:
    """Members of a record as lines of C, with their leaves; Decided words are in `choices`: for each the
    decider and the leaves that it makes pointers."""

    def __init__(self):
        self.lines, self.leaves, self.choices = [], [], []

    def add(self, line, leaves=(), choices=()):
        self.lines.append(line)
        self.leaves += leaves
        self.choices += choices


def scalar(rng, name):
    """(declaration without the name's array, kind, tag) of one word."""
    tag = rng.choice(TAGS)
    return rng.choice([(f"node *{name}", POINTER, "0"), (f"NVM_PTR(node) {name}", POINTER, "0"),
                       (f"void *{name}", POINTER, "0"), (f"NVM_WEAK_PTR(node) {name}", WEAK, "0"),
                       (f"NVM_TAGGED_PTR(uintptr_t, {tag}) {name}", POINTER, tag),
                       (f"NVM_TAGGED_PTR(node *, {tag}) {name}", POINTER, tag),
                       (f"NVM_TAGGED_PTR(const long *, {tag}) {name}", CONSTANT, tag),
                       (f"NVM_STATIC_PTR(const long) {name}", CONSTANT, "0"),
                       (f"NVM_PTR_OR_NUMBER uint64_t {name}", EITHER, "0"),
                       (f"uint64_t {name}", NUMBER, "0")])


def places(sizes):
    """Of an array with these dimensions."""
    found = [""]
    for size in sizes:
        found = [f"{at}[{i}]" for at in found for i in range(size)]
    return found


class Maker:
    """With `undecides` some words are such that nobody decides what they are."""

    def __init__(self, rng, packs, undecides):
        self.rng, self.packs, self.undecides, self.count = rng, packs, undecides, 0

    def name(self, letter="m"):
        self.count += 1
        return f"{letter}{self.count}"

    def member(self, shape, depth):
        kinds = [self.plain, self.plain, self.word, self.word, self.word, self.function, self.union,
                 self.decided, self.volatile, self.over]
        if depth < DEPTH_MAX:
            kinds += [self.nested, self.nested]
        self.rng.choice(kinds)(shape, depth)

    def plain(self, shape, depth):
        array = self.rng.choice(["", "", "[3]", "[2][5]"])
        shape.add(f"{self.rng.choice(PLAIN)} {self.name()}{array};")

    def word(self, shape, depth):
        name = self.name()
        text, kind, tag = scalar(self.rng, name)
        sizes = self.rng.choice([(), (), (1,), (3,), (2, 3)])
        shape.add(text + "".join(f"[{n}]" for n in sizes) + ";",
                  [Leaf(name + at, kind, tag) for at in places(sizes)])

    def function(self, shape, depth):
        name = self.name()
        sizes = self.rng.choice([(), (2,)])
        shape.add(f"long (*{name}{''.join(f'[{n}]' for n in sizes)})(void);",
                  [Leaf(name + at, FUNCTION) for at in places(sizes)])

    def volatile(self, shape, depth):
        text = self.rng.choice(["int", "char", "long", "void *"])
        shape.add(f"NVM_VOLATILE {text} {self.name()}{self.rng.choice(['', '[3]'])};")

    def union(self, shape, depth):
        """Of members that are the same, or no pointers."""
        outer, inner = self.name("u"), self.name()
        text, leaf = self.rng.choice([
            (f"node *{inner}; node *{self.name()};", [Leaf(f"{outer}.{inner}", POINTER)]),
            (f"node *{inner}[2]; node *{self.name()}[2];",
             [Leaf(f"{outer}.{inner}{at}", POINTER) for at in places((2,))]),
            (f"uint64_t {inner}; char {self.name()}[{self.rng.choice([3, 8, 13])}];",
             [Leaf(f"{outer}.{inner}", NUMBER)]),
            (f"NVM_PTR_OR_NUMBER uint64_t {inner}; double {self.name()};",
             [Leaf(f"{outer}.{inner}", EITHER)]),
            (f"NVM_VOLATILE int {inner}; char {self.name()}[5];", []),
            (f"NVM_VOLATILE int {inner}; NVM_VOLATILE char {self.name()}[6];", [])])
        shape.add(f"union {{ {text} }} {outer};", leaf)

    def over(self, shape, depth):
        """An array of none over other members: the same as its elements, or numbers; in a union, too."""
        rng, outer, array, first, rest = self.rng, self.name("o"), self.name("v"), self.name(), self.name()
        count = rng.randint(1, 3)
        if not self.undecides or rng.random() < 0.3:
            shape.add(f"struct {{ node *{array}[0]; node *{first}; node *{rest}[{count}]; }} {outer};",
                      [Leaf(f"{outer}.{first}", POINTER),
                       *(Leaf(f"{outer}.{rest}{at}", POINTER) for at in places((count,)))])
        elif rng.random() < 0.5:
            shape.add(f"struct {{ long {first}; node *{array}[0]; uint64_t {rest}[{count}]; }} {outer};",
                      [Leaf(f"{outer}.{rest}{at}", UNDECIDED) for at in places((count,))])
        else:
            shape.add(f"union {{ struct {{ node *{array}[0]; node *{first}; }} {self.name()}; "
                      f"uint64_t {rest}; }} {outer};", [Leaf(f"{outer}.{rest}", UNDECIDED)])

    def decided(self, shape, depth):
        """A union of pointers and a number, perhaps inside other records, and the member that tells which."""
        rng, outer, decider, number = self.rng, self.name("u"), self.name("k"), self.name()
        pointers, leaves = self.decided_member()
        values = rng.choice([(1, 2), (3, 0), (5, 6)])
        mark, when = rng.choice([("NVM_WHEN", values[0]), ("NVM_UNLESS", values[1])])
        union = f"union {{ {mark}({decider}, {when}) {pointers}; uint64_t {number}; }} {outer};"
        leaves = [leaf.inside(f"{outer}.") for leaf in leaves]
        if rng.random() < 0.3:
            inside, count = self.name("r"), rng.randint(1, 3)
            union = f"struct {{ short {self.name()}; {union} }} {inside}[{count}];"
            leaves = [leaf.inside(f"{inside}{at}.") for at in places((count,)) for leaf in leaves]
        lines = [rng.choice(["unsigned {} : 3;", "int {};", "unsigned char {};", "long {};"]).format(decider),
                 union]
        rng.shuffle(lines)
        for line in lines:
            shape.add(line)
        shape.choices.append((Decider(decider, *values), leaves))

    def decided_member(self):
        """One word, an array or a record, without what has no value that is no pointer."""
        name, inner = self.name(), self.name()
        text, kind, tag = scalar(self.rng, name)
        while kind in (EITHER, NUMBER, WEAK):
            text, kind, tag = scalar(self.rng, name)
        return self.rng.choice([
            (text, [Leaf(name, kind, tag)]), (text, [Leaf(name, kind, tag)]),
            (f"{text}[3]", [Leaf(name + at, kind, tag) for at in places((3,))]),
            (f"struct {{ node *{inner}; int {self.name()}; {text}[2]; }} {inner}",
             [Leaf(f"{inner}.{inner}", POINTER),
              *(Leaf(f"{inner}.{name}{at}", kind, tag) for at in places((2,)))])])

    def nested(self, shape, depth):
        name = self.name("r")
        inner = self.members(depth + 1, self.rng.randint(1, 3))
        sizes = self.rng.choice([(), (), (2,), (3,)])
        packed = " __attribute__((packed))" if self.packs and self.rng.random() < 0.3 else ""
        shape.add(f"struct{packed} {{ {' '.join(inner.lines)} }} {name}{''.join(f'[{n}]' for n in sizes)};")
        for at in places(sizes):
            shape.leaves += [leaf.inside(f"{name}{at}.") for leaf in inner.leaves]
            shape.choices += [(Decider(f"{name}{at}.{d.path}", d.value, d.other),
                               [leaf.inside(f"{name}{at}.") for leaf in leaves])
                              for d, leaves in inner.choices]

    def members(self, depth, count):
        shape = Shape()
        for _ in range(count):
            self.member(shape, depth)
        return shape

    def tail(self, shape, elements):
        """An array at the end; so many of its elements are used."""
        rng, name, other = self.rng, self.name("z"), self.name("z")
        length = rng.choice(["[]", "[0]"])
        text, kind, tag = scalar(rng, name)
        inner = self.members(1, rng.randint(1, 3))
        what = rng.choice(["word", "word", "record", "function", "bytes", "two", "union",
                           *["room"] * self.undecides])
        if what == "word":
            shape.add(f"{text}{length};", [Leaf(f"{name}[{i}]", kind, tag) for i in range(elements)])
        elif what == "function":
            shape.add(f"long (*{name}{length})(void);",
                      [Leaf(f"{name}[{i}]", FUNCTION) for i in range(elements)])
        elif what == "bytes":
            shape.add(f"char {name}{length};", [])
        elif what == "two":
            shape.add(f"char {name}[0]; uint64_t {other}[0];",
                      [Leaf(f"{other}[{i}]", NUMBER) for i in range(elements)])
        elif what == "union":
            shape.add(f"union {{ char {name}[0]; uint64_t {other}[0]; }};",
                      [Leaf(f"{other}[{i}]", NUMBER) for i in range(elements)])
        elif what == "room":
            union, array = self.name("u"), f"{self.name()}.{name}"
            shape.add(f"union {{ struct {{ long {self.name()}; node *{name}[]; }} {array.split('.')[0]}; "
                      f"char {other}[{rng.randint(9, 50)}]; }} {union};",
                      [Leaf(f"{union}.{array}[{i}]", UNDECIDED) for i in range(elements)])
            return f"{union}.{array}"
        else:
            shape.add(f"struct {{ {' '.join(inner.lines)} }} {name}{length};")
            for i in range(elements):
                at = f"{name}[{i}]."
                shape.leaves += [leaf.inside(at) for leaf in inner.leaves]
                shape.choices += [(Decider(at + d.path, d.value, d.other), [x.inside(at) for x in leaves])
                                  for d, leaves in inner.choices]
        return other if what in ("two", "union") else name


class Record:
    """With `packs` some of its words are not aligned."""

    def __init__(self, rng, name, packs, undecides):
        self.name, maker = name, Maker(rng, packs, undecides)
        self.shape = maker.members(0, rng.randint(1, 6))
        if not self.shape.leaves:
            maker.word(self.shape, 0)
        self.attribute = rng.choice(["", "", "", " __attribute__((aligned(16)))"])
        if packs and rng.random() < 0.4:
            self.attribute = rng.choice([" __attribute__((packed))", " __attribute__((packed, aligned(4)))"])
        self.elements, self.tail, self.records = 0, None, 1
        if rng.random() < 0.4:
            self.elements = rng.randint(1, 5)
            self.tail = maker.tail(self.shape, self.elements)
        elif rng.random() < 0.4:
            self.records = rng.randint(2, 4)
        self.short = not self.tail and self.records == 1 and not self.shape.choices and rng.random() < 0.5
        self.leaves = list(self.shape.leaves)
        self.choices = []
        for decider, leaves in self.shape.choices:
            if rng.random() < 0.5:
                self.choices.append((decider, decider.value))
                self.leaves += leaves
            else:
                self.choices.append((decider, decider.other))
                self.leaves += [Leaf(leaf.path, DORMANT, leaf.tag) for leaf in leaves]

    def text(self):
        return f"struct{self.attribute} {self.name} {{\n  " + "\n  ".join(self.shape.lines) + "\n};"

    def tables(self):
        """The leaves, and the functions that set the deciders."""
        lines = [f"static const struct leaf leaves_{self.name}[] = {{"]
        record = f"struct {self.name}"
        lines += [f'    {{"{leaf.path}", offsetof({record}, {leaf.path}), {leaf.kind}, {leaf.tag}}},'
                  for leaf in self.leaves]
        lines += ["};", f"static uint64_t type_{self.name}(void) {{ return NVM_TYPE_ID({record}); }}"]
        lines += [f"static void decide_{self.name}(void *record) {{", f"  struct {self.name} *r = record;"]
        lines += [f"  r->{d.path} = {value};" for d, value in self.choices]
        lines += ["  (void)r;", "}", f"static int waken_{self.name}(void *record, unsigned which) {{",
                  f"  struct {self.name} *r = record;", "  (void)r, (void)which;"]
        dormant = [d for d, value in self.choices if value == d.other]
        lines += [f"  if (which == {i})\n    r->{d.path} = {d.value};" for i, d in enumerate(dormant)]
        return "\n".join([*lines, f"  return which < {len(dormant)};", "}"])

    def bytes_asked(self):
        """As a C expression; 0: up to the end of the last leaf."""
        if self.tail:
            return (f"offsetof(struct {self.name}, {self.tail}) + "
                    f"{self.elements} * sizeof(((struct {self.name} *)0)->{self.tail}[0])")
        return "0" if self.short else f"{self.records} * sizeof(struct {self.name})"

    def row(self):
        leaves = f"leaves_{self.name}"
        return (f"{{type_{self.name}, sizeof(struct {self.name}), {self.records}, "
                f"{self.bytes_asked()}, {leaves}, sizeof {leaves} / sizeof *{leaves}, decide_{self.name}, "
                f"waken_{self.name}}}")
