"""The root structure of a batch of programs: fields of all kinds in a random order, and where each lies."""
from cells import CellField

SCALARS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}
BITS = {"bits32": (4, (3, 12, 17)), "bits64": (8, (1, 30, 33))}  # bytes of the unit, widths
UNION = "union8"
NODE = {"next": 0, "value": 8, "tag": 16, "name": 18, "raw": 32}  # struct node; name has 14 bytes, raw 24
NODE_BYTES = 56
DECLARATIONS = """\
NVM_STRUCT node {
  struct node *next;
  u64 value;
  u16 tag;
  char name[14];
  u8 raw[24];
};
_Static_assert(sizeof(struct node) == 56 && offsetof(struct node, raw) == 32, "node");
"""


class Field:
    """`count` elements of `width` bytes, of a kind."""

    def __init__(self, kind, width, count, name):
        self.kind, self.width, self.count, self.name = kind, width, count, name
        self.offset, self.index = 0, 0

    def size(self):
        return self.width * self.count

    def align(self):
        return 1 if self.kind == "text" else self.width

    def declare(self):
        if self.kind == "text":
            return f"char {self.name}[{self.count}];"
        if self.kind == "slot":
            return f"struct node *{self.name};"
        if self.kind == "end":
            return f"char *{self.name};"
        if self.kind == "union8":
            return f"union {{ u64 q; u32 d[2]; u16 h[4]; u8 b[8]; }} {self.name};"
        if self.kind in BITS:
            unit = "u" + str(8 * self.width)
            members = " ".join(f"{unit} m{i} : {width};" for i, width in enumerate(BITS[self.kind][1]))
            return f"struct {{ {members} }} {self.name};"
        return f"u{8 * self.width} {self.name}" + (f"[{self.count}];" if self.count > 1 else ";")


class Layout:
    def __init__(self, dice):
        made = []

        def add(kind, width, count, times):
            made.extend(Field(kind, width, count() if callable(count) else count, "") for _ in range(times))

        for width in (1, 2, 4, 8):
            add("scalar", width, 1, 4)
            add("array", width, lambda: dice.randint(3, 14), 3)
        add("array", 8, 16, 2)
        add("array", 1, lambda: dice.randint(65, 200), 2)
        add("text", 1, lambda: dice.randint(14, 40), 3)
        for kind, (width, _) in BITS.items():
            add(kind, width, 1, 2)
        add(UNION, 8, 1, 2)
        add("slot", 8, 1, 4)
        add("end", 8, 1, 1)
        # With none the runtime judges pointers in another way.
        made.extend(CellField(dice) for _ in range(dice.choice((0, 3))))
        dice.shuffle(made)
        offset = 0
        for index, field in enumerate(made):
            field.index, field.name = index, f"f{index}"
            offset = -(-offset // field.align()) * field.align()
            field.offset = offset
            offset += field.size()
        self.fields, self.bytes = made, -(-offset // 8) * 8
        self.cells = [cell for f in made if f.kind == "cell" for cell in f.cells()]

    def pointers(self):
        """Where a pointer may lie, and its name."""
        return [(f.offset, f.name) for f in self.fields if f.kind in ("slot", "end")] + \
            [(cell.word_at, cell.place[3:] + ".n") for cell in self.cells]

    def declaration(self):
        lines = ["NVM_STRUCT world {"] + ["  " + f.declare() for f in self.fields] + ["};"]
        lines += [f"_Static_assert(offsetof(struct world, {f.name}) == {f.offset}, \"{f.name}\");"
                  for f in self.fields]
        return DECLARATIONS + "\n".join(lines) + \
            f"\n_Static_assert(sizeof(struct world) == {self.bytes}, \"world\");\n"

    def initial(self):
        """The model's memory at the start; the harness and fill() have the same."""
        from model import LIFE, NULL, key_of
        memory = {key_of(0, i): (i * 7 + 3) & 255 for i in range(self.bytes)}
        for offset, _ in self.pointers():
            memory.update({key_of(0, offset + i): 0 for i in range(8)})
            memory[key_of(0, offset)] = NULL
        memory[key_of(0, LIFE)] = 1
        return memory

    def fill_text(self):
        clear = "".join(f" w->{name} = 0;" for _, name in self.pointers())
        return ("static void fill(void *world) {\n  struct world *w = world;\n"
                "  for (unsigned i = 0; i < sizeof *w; i++)\n    ((u8 *)w)[i] = (u8)(i * 7 + 3);\n"
                f" {clear}\n}}\n")
