"""control_names.py FOLDER: a program whose names hold control characters; --check FILE...: none is there."""
import json
import os
import sys

if sys.argv[1] == "--check":
    for name in sys.argv[2:]:
        data = open(name, "rb").read()
        assert data, name
        text = data.decode("utf-8")
        bad = {c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160}
        assert not bad, (name, bad)
    sys.exit()
folder = sys.argv[1]
source = """#include <stdio.h>
#include <stdlib.h>
typedef struct t { int v; /* \x1b]0;title\x07 \x1b[31m \xc2\x9b1m \xff */ struct t *next; } \xc3\xa9t\xc3\xa9;
\xc3\xa9t\xc3\xa9 *all; /* \x1b[2J */
void load(FILE *f) {
  struct t *t = malloc(sizeof *t); /* \x1b[H */
  fscanf(f, "%d", &t->v); t->next = all; all = t;
}
"""
names = ["good\x1b[2J.c", "bad\x1b]0;x\x07\x9b.c"]
with open(os.path.join(folder, names[0]), "wb") as f:
    f.write(source.encode("latin-1"))
with open(os.path.join(folder, names[1]), "wb") as f:
    f.write(b"int x = \"\x1b[31m\" y \x9b; /* \x07 */\n")
entries = [{"directory": ".", "file": n, "arguments": ["cc\x1b[1m", "-c", n]} for n in names]
entries.append({"directory": ".", "file": names[0], "arguments": ["cc", "-c", "@\x1b[31mgone", names[0]]})
with open(os.path.join(folder, "compile_commands.json"), "w") as f:
    json.dump(entries, f)
