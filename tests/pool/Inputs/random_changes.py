#!/usr/bin/env python3
"""Types of random shape that change in random ways: what `nvmove pool convert` makes of values and pointers.

usage: random_changes.py BIN FOLDER [--cases N] [--first SEED]

A case has a record with numbers, bit-fields, arrays, records and arrays of records, pointers under a
condition, perhaps a flexible array; one object of it, an array of the inner record, and a holder with
pointers into both. The program's version has members that are new, gone, renamed, wider, longer, in another
order. Each value and each pointer has to be where the member is now, and a check no hint. No pointer leads to
an end: where a conversion asks that, the map says so. The last line is "N converted, N wrong".
Fifty cases at a time are two programs.
"""
import argparse
import os
import random
import re
import subprocess
import sys

# Of each type those that have all its values.
WIDER = {"signed char": ["short", "int", "long"], "unsigned char": ["unsigned short", "int", "unsigned long"],
         "short": ["int", "long"], "unsigned short": ["unsigned", "long"], "int": ["long"],
         "unsigned": ["unsigned long"], "long": [], "unsigned long": [], "float": ["double"], "double": []}
BITS = {"signed char": 8, "unsigned char": 8, "short": 16, "unsigned short": 16, "int": 32, "unsigned": 32,
        "long": 64, "unsigned long": 64}
BATCH = 50
TAIL, LENGTH = None, 3  # a flexible array has so many elements


class Field:
    """`kind`: a type of WIDER; "bits"; "choice", a number that says whether the union beside it is a pointer
    to an `inner` or a number; or a Record. `dims`: of an array, TAIL of a flexible one; `was`: before."""

    def __init__(self, name, kind, dims=(), width=0, was=None):
        self.name, self.kind, self.dims, self.width, self.was = name, kind, tuple(dims), width, was
        self.value = None  # of a new one
        self.inner = None  # of a choice

    def declare(self):
        if self.kind == "bits":
            return f"unsigned {self.name} : {self.width};"
        if self.kind == "choice":
            return (f"{'long' if self.width else 'int'} {self.name}k; union {{ NVM_WHEN({self.name}k, 1) "
                    f"struct {self.inner.name} *p; long n; }} {self.name};")
        spelt = f"struct {self.kind.name}" if isinstance(self.kind, Record) else self.kind
        return f"{spelt} {self.name}{''.join('[]' if d is TAIL else f'[{d}]' for d in self.dims)};"


class Record:
    def __init__(self, name, fields, was=None):
        self.name, self.fields, self.was = name, fields, was

    def declare(self):
        return f"struct {self.name} {{ {' '.join(f.declare() for f in self.fields)} }};"


def indices(dims):
    """"[0][1]" and so on: each element."""
    every = [""]
    for d in dims:
        every = [one + f"[{i}]" for one in every for i in range(LENGTH if d is TAIL else d)]
    return every


class Case:
    def __init__(self, number):
        self.number, self.rng = number, random.Random(number)
        self.names = 0
        self.old_inner = Record(f"inner{number}", self.numbers(1, 4))
        self.old_outer = Record(f"outer{number}", self.outer_fields())
        self.maps = []
        self.inner = self.change(self.old_inner, {})
        self.outer = self.change(self.old_outer, {self.old_inner: self.inner})
        # What is compared: (old, new, value), (type, old, type, new), (old, new, value in both).
        self.leaves, self.pointers, self.choices = [], [], []
        self.place("o->", self.old_outer, "o->", self.outer)
        for i in range(3):
            self.place(f"i[{i}].", self.old_inner, f"i[{i}].", self.inner)
        self.pointers.append((f"struct {self.old_outer.name} *", "o", f"struct {self.outer.name} *", "o"))
        self.pointers.append(("void *", "o", "void *", "o"))
        for i in range(4):  # the last one: the end
            self.pointers.append((f"struct {self.old_inner.name} *", f"i + {i}",
                                  f"struct {self.inner.name} *", f"i + {i}"))
        self.pointers = self.rng.sample(self.pointers, min(len(self.pointers), 24))
        self.grows = self.rng.random() < 0.5  # the holder

    def name(self):
        self.names += 1
        return f"f{self.names}"

    def numbers(self, least, most):
        made = []
        for _ in range(self.rng.randint(least, most)):
            dims = [self.rng.randint(1, 3) for _ in range(self.rng.choice((0, 0, 0, 1, 2)))]
            made.append(Field(self.name(), self.rng.choice(list(WIDER)), dims))
            if self.rng.random() < 0.15:
                made[-1] = Field(self.name(), "bits", width=self.rng.randint(1, 20))
        return made

    def outer_fields(self):
        made = self.numbers(1, 4)
        for _ in range(self.rng.randint(0, 3)):
            dims = [self.rng.randint(1, 3) for _ in range(self.rng.choice((0, 0, 1, 1, 2)))]
            made.insert(self.rng.randint(0, len(made)), Field(self.name(), self.old_inner, dims))
        for _ in range(self.rng.choice((0, 0, 1, 2))):
            made.insert(self.rng.randint(0, len(made)), Field(self.name(), "choice"))
        for f in made:
            f.inner = self.old_inner
        if self.rng.random() < 0.3:
            of = self.rng.choice((self.old_inner, "int", "unsigned char", "long"))
            made.append(Field(self.name(), of, [TAIL]))
        return made

    def change(self, old, records):
        """The program's version; what the names do not tell is said in the map."""
        rng, fields, said, dropped = self.rng, [], [], []
        for f in old.fields:
            dice = rng.random()
            is_tail = TAIL in f.dims
            if dice < 0.08 and len(dropped) + 1 < len(old.fields) and not is_tail:  # one stays
                dropped.append(f.name)
                dropped += [f.name + "k"] if f.kind == "choice" else []
                continue
            now = Field(f.name, records.get(f.kind, f.kind), f.dims, f.width, was=f)
            now.inner = records.get(f.inner, f.inner)
            now.width |= f.kind == "choice" and rng.random() < 0.3
            if dice < 0.3 and WIDER.get(f.kind):
                now.kind = rng.choice(WIDER[f.kind])
            if f.kind == "bits":
                now.width += rng.randint(0, 5)
            if f.dims and not is_tail and rng.random() < 0.3:
                now.dims = tuple(d + rng.randint(0, 2) for d in f.dims)
            if rng.random() < 0.15:
                now.name = self.name()
                said.append(f"{{name: {now.name}, was: {f.name}}}")
                if f.kind == "choice":
                    said.append(f"{{name: {now.name}k, was: {f.name}k}}")
            fields.append(now)
        tail = fields.pop() if fields and TAIL in fields[-1].dims else None
        if rng.random() < 0.5:
            rng.shuffle(fields)
        for _ in range(rng.choice((0, 1, 1, 2)) if fields else 1):
            new = Field(self.name(), rng.choice([k for k in WIDER if k not in ("float", "double")]))
            if rng.random() < 0.4:
                new.value = rng.randint(1, 100)
                said.append(f"{{name: {new.name}, value: {new.value}}}")
            fields.insert(rng.choice((0, len(fields))), new)
        fields += [tail] if tail else []
        made = Record(old.name + ("x" if rng.random() < 0.2 else ""), fields, was=old)
        if said or dropped or made.name != old.name:
            entry = f"  - name: struct {made.name}\n"
            entry += f"    was: struct {old.name}\n" if made.name != old.name else ""
            entry += f"    fields: [{', '.join(said)}]\n" if said else ""
            self.maps.append(entry + (f"    drop: [{', '.join(dropped)}]\n" if dropped else ""))
        if not self.is_changed(made):  # then the map has nothing to say
            made.name = old.name
        return made

    @staticmethod
    def is_changed(record):
        return record.declare() != record.was.declare()

    def value(self, kind, width):
        if kind in ("float", "double"):
            return self.rng.randint(-1000, 1000) / 8
        bits = width if kind == "bits" else BITS[kind]
        if kind == "bits" or kind.startswith("unsigned"):
            return self.rng.randrange(1 << bits)
        return self.rng.randrange(-(1 << bits - 1), 1 << bits - 1)

    def place(self, old_prefix, old, new_prefix, new):
        """All that lies in a record, and in both versions."""
        for now in new.fields:
            f = now.was
            for index in indices(f.dims if f else ()):
                there = new_prefix + now.name + index
                if not f:
                    self.leaves.append((None, there, now.value or 0))
                    continue
                here = old_prefix + f.name + index
                if f.kind == "choice":
                    self.choose(here, there)
                    continue
                if isinstance(f.kind, Record):
                    self.pointers.append((f"struct {f.kind.name} *", "&" + here, f"struct {now.kind.name} *",
                                          "&" + there))
                    self.place(here + ".", f.kind, there + ".", now.kind)
                    continue
                self.leaves.append((here, there, self.value(f.kind, f.width)))
                if f.kind != "bits":
                    self.pointers.append((f.kind + " *", "&" + here, now.kind + " *", "&" + there))

    def choose(self, here, there):
        is_pointer = self.rng.random() < 0.5
        self.leaves.append((here + "k", there + "k", 1 if is_pointer else self.rng.randint(2, 9)))
        if is_pointer:
            self.choices.append((here + ".p", there + ".p", f"i + {self.rng.randint(0, 2)}"))
        else:
            self.leaves.append((here + ".n", there + ".n", self.value("long", 0)))

    def literal(self, value):
        return f"{value!r}" if isinstance(value, float) else f"{value}{'UL' if value >= 0 else 'L'}"

    def room(self, outer):
        last = outer.fields[-1]
        return f" + {LENGTH} * sizeof o->{last.name}[0]" if TAIL in last.dims else ""

    def source(self, is_old):
        n = self.number
        outer, inner = (self.old_outer, self.old_inner) if is_old else (self.outer, self.inner)
        pointers = " ".join(f"{p[0] if is_old else p[2]}p{k};" for k, p in enumerate(self.pointers))
        extra = "long before; " if self.grows and not is_old else ""
        text = f"{inner.declare()}\n{outer.declare()}\n"
        text += f"struct holder{n} {{ {extra}struct {outer.name} *o; struct {inner.name} *i; {pointers} }};\n"
        text += f"static int case{n}(NVM_POOL *pool) {{\n  int bad = 0;\n"
        if is_old:
            text += (f"  struct holder{n} *h = NEW(struct holder{n}, 1);\n"
                     f"  struct {outer.name} *o = h->o = nvm_calloc(pool, NVM_TYPE_ID(struct {outer.name}), "
                     f"1, sizeof *o{self.room(outer)});\n"
                     f"  struct {inner.name} *i = h->i = NEW(struct {inner.name}, 3);\n"
                     f"  nvm_pool_set_root(pool, h);\n")
            text += "".join(f"  {here} = {self.literal(v)};\n" for here, _, v in self.leaves if here)
            text += "".join(f"  {here} = {to};\n" for here, _, to in self.choices)
            text += "".join(f"  h->p{k} = {p[1]};\n" for k, p in enumerate(self.pointers))
        else:
            text += (f"  struct holder{n} *h = nvm_pool_root(pool);\n  struct {outer.name} *o = h->o;\n"
                     f"  struct {inner.name} *i = h->i;\n")
            text += "".join(f"  MUST({there} == {self.literal(v)});\n" for _, there, v in self.leaves)
            text += "".join(f"  MUST({there} == {to});\n" for _, there, to in self.choices)
            text += "".join(f"  MUST(h->p{k} == {p[3]});\n" for k, p in enumerate(self.pointers))
        return text + "  return bad;\n}\n"


PROLOGUE = """#include "nvmove/nvmove.h"
#include <stdio.h>
#include <stdlib.h>
#define NEW(T, n) nvm_calloc(pool, NVM_TYPE_ID(T), n, sizeof(T))
#define MUST(what) do { if (!(what)) bad++, printf("%s: %s\\n", __func__, #what); } while (0)
"""
MAIN = """typedef int (*one)(NVM_POOL *);
static const struct { int number; one run; } all[] = {%s};
int main(int count, char **words) {
  NVM_POOL *pool = %s;
  if (count != 3 || !pool)
    return fprintf(stderr, "%%s\\n", nvm_strerror()), 3;
  nvm_tx_begin(pool);
  int bad = 0;
  for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
    if (all[k].number == atoi(words[2]))
      bad = all[k].run(pool);
  return nvm_tx_commit(pool) || nvm_pool_close(pool) ? 3 : bad != 0;
}
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def build(tools, folder, name, cases):
    place = os.path.join(folder, name)
    how = "nvm_pool_create(words[1], 1 << 20)" if name == "old" else "nvm_pool_open(words[1])"
    with open(place + ".c", "w") as file:
        file.write(PROLOGUE + "".join(c.source(name == "old") for c in cases))
        file.write(MAIN % (", ".join(f"{{{c.number}, case{c.number}}}" for c in cases), how))
    status, said = run(os.path.join(tools, "nvmove-cc"), "-w", place + ".c", "-o", place)
    if status:
        sys.exit(said)
    return place


def convert(tool, pool, made, new, maps):
    changes = ["--layouts", new]
    if maps:
        with open(pool + ".yaml", "w") as file:
            file.write("types:\n" + "".join(maps))
        changes += ["--map", pool + ".yaml"]
    return run(tool, "pool", "convert", pool, made, *changes)


def judge(tools, folder, case, old, new):
    """What is wrong; empty: nothing."""
    tool = os.path.join(tools, "nvmove")
    pool, made = (os.path.join(folder, f"{case.number}.{end}") for end in ("pool", "new"))
    status, said = run(old, pool, str(case.number))
    if status:
        return "the old program: " + said
    status, said = convert(tool, pool, made, new, case.maps)
    begins = set()
    while status and (asked := re.search(r"of (struct \w+): 'ends: .*'begins: \[(\w+)\]'", said)):
        holder, field = asked.groups()
        if field in begins:
            break
        begins.add(field)
        entry = f"  - {{name: {holder}, begins: [{', '.join(sorted(begins))}]}}\n"
        status, said = convert(tool, pool, made, new, [*case.maps, entry])
    if status:
        return said
    for command in ([tool, "pool", "check", made], [new, made, str(case.number)]):
        status, said = run(*command)
        if status or "hint" in said:
            return said
    os.remove(pool)
    os.remove(made)
    return ""


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("bin")
    p.add_argument("folder")
    p.add_argument("--cases", type=int, default=40)
    p.add_argument("--first", type=int, default=1)
    a = p.parse_args()
    os.makedirs(a.folder, exist_ok=True)
    wrong = 0
    for start in range(0, a.cases, BATCH):
        cases = [Case(a.first + k) for k in range(start, min(start + BATCH, a.cases))]
        old, new = (build(a.bin, a.folder, name, cases) for name in ("old", "new"))
        for case in cases:
            said = judge(a.bin, a.folder, case, old, new)
            if said:
                print(f"case {case.number}: {said.strip()}")
                wrong += 1
    print(f"{a.cases - wrong} converted, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
