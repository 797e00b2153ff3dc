"""Cells: fields of the root in which one member decides whether another is a pointer (NVM_WHEN, NVM_UNLESS).

A field is an array of records, each with a member that decides and a union of pointer and number; or one
member that decides for an array of unions; before or behind them, with nothing or a line in between. What
lies in such a union is null, an address in the root or one of DRAM. The last may be committed as a number,
never as a pointer.
"""

UNION = "union {{ {mark} struct node *p; u64 n; }}{name};"
# Type of the member that decides, bytes that a store to it writes, bit where it begins, bits.
DECIDERS = (("u8", 1, 0, 8), ("u16", 2, 0, 16), ("u32", 4, 0, 32), ("u64", 8, 0, 64),
            ("signed char", 1, 0, 8), ("int", 4, 0, 32), ("u32", 1, 3, 5))
PADS = (0, 0, 24, 64)


class Cell:
    """One word, and what decides about it."""

    def __init__(self, field, place, tag_place, word_at, tag_at):
        self.field, self.place, self.tag_place = field, place, tag_place
        self.word_at, self.tag_at = word_at, tag_at  # offsets in the root

    def holds(self, tag):
        """Whether it is a pointer, by the bytes of what decides."""
        _, _, first, bits = self.field.decider
        return ((tag >> first & (1 << bits) - 1) in self.field.values) != self.field.unless


class CellField:
    kind = "cell"

    def __init__(self, dice):
        self.name, self.offset, self.index = "", 0, 0
        self.decider, self.pad, self.first = dice.choice(DECIDERS), dice.choice(PADS), dice.random() < 0.6
        self.own, self.unless = dice.random() < 0.6, dice.random() < 0.3
        self.count = dice.randint(1, 2 if self.own and self.pad else 3)
        is_signed, mask = not self.decider[0].startswith("u"), (1 << self.decider[3]) - 1
        self.listed = dice.choice(((1, 5), (3,), (-2, 3) if is_signed else (2,)))
        self.values = {v & mask for v in self.listed}
        self.numbers = [v for v in (0, 4, 6, 9) if v & mask not in self.values]
        # The record: what decides, what lies between, the unions; or the other way round.
        words = 8 if self.own else 8 * self.count
        self.tag_at = 0 if self.first else words + self.pad
        self.word_at = 8 + self.pad if self.first else 0
        self.stride = 8 + self.pad + words

    def size(self):
        return self.stride * (self.count if self.own else 1)

    def align(self):
        return 8

    def declare(self):
        type_, width, first, bits = self.decider
        tag = f"{type_} tag;"
        if bits < 8 * width:
            tag = f"{type_} before : {first}; {type_} tag : {bits};"
        values = ", ".join(map(str, self.listed))
        mark = f"{'NVM_UNLESS' if self.unless else 'NVM_WHEN'}(tag, {values})"
        union = UNION.format(mark=mark, name="" if self.own else f" u[{self.count}]")
        parts = [f"{tag} u8 gap[{8 - width}];" if width < 8 else tag,
                 f"u64 pad[{self.pad // 8}];" if self.pad else "", union]
        count = f"[{self.count}]" if self.own else ""
        return f"struct {{ {' '.join(parts if self.first else parts[::-1])} }} {self.name}{count};"

    def cell(self, i):
        place = f"w->{self.name}" + (f"[{i}]" if self.own else "")
        start = self.offset + (i * self.stride if self.own else 0)
        return Cell(self, place + ("" if self.own else f".u[{i}]"), place + ".tag",
                    start + self.word_at + (0 if self.own else 8 * i), start + self.tag_at)

    def cells(self):
        return [self.cell(i) for i in range(self.count)]
