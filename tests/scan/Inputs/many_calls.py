"""many_calls.py FILE KIND N: a load that makes N calls, through a table of N functions or one target each."""
import sys

name, kind, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(name, "w") as f:
    f.write("#include <stdio.h>\n#include <stdlib.h>\nstruct rec { struct rec *next; int v; } *all;\n")
    if kind == "fields":
        f.write("struct h { " + " ".join(f"void (*f{i})(int);" for i in range(count)) + " };\n")
    for i in range(count):
        f.write(f"void f{i}(int v) {{\n  struct rec *r = malloc(sizeof *r);\n"
                "  r->v = v; r->next = all; all = r;\n}\n")
    if kind == "fields":
        f.write("struct h H = { " + ", ".join(f"f{i}" for i in range(count)) + " };\n")
    else:
        f.write("void (*T[])(int) = { " + ", ".join(f"f{i}" for i in range(count)) + " };\n")
    f.write("void load(FILE *in) {\n  int v = 0;\n")
    for i in range(count):
        call = f"H.f{i}(v)" if kind == "fields" else f"T[v & {count - 1}]({i})"
        f.write(f"  fscanf(in, \"%d\", &v);\n  {call};\n" if i == 0 else f"  {call};\n")
    f.write("}\n")
