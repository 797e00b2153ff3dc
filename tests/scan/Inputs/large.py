"""large.py MEGABYTES: prints that much generated C: a table, functions, an else-if chain, a line."""
import sys

wanted = int(sys.argv[1]) * 1_000_000
out = ["struct row { int a; const char *b; struct row *c; };\n", "struct row table[] = {\n"]
rows = wanted // 60
out += [f'{{ {i}, "row {i:06d}", &table[{i // 2}] }},\n' for i in range(rows)]
out.append("};\n")
size = sum(map(len, out))
out.append("int one_line[] = {" + "1," * 500_000 + "};\n")
out.append("int chain(int x) {\n" + "".join(
    f"  {'else ' if i else ''}if (x == {i}) return {i} * 3;\n" for i in range(3000)) +
    "  return 0;\n}\n")
size = sum(map(len, out))
n = 0
while size < wanted:
    text = (f"int f{n}(struct row *r) {{ if (r->a > {n}) r->c = &table[{n}]; "
            f"else r->b = table[{n}].b; return r->a + {n}; }}\n")
    out.append(text)
    size += len(text)
    n += 1
sys.stdout.write("".join(out))
