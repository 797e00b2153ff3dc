// A byte code loader with computed gotos.
// load: load_code
// must: insn
#include <stdio.h>
#include <stdlib.h>
struct insn { int op; long arg; struct insn *target; };
static struct insn *code;
int load_code(FILE *f) {
  static void *const step[] = {&&plain, &&with_arg, &&jump, &&end};
  int n = 0, op;
  code = malloc(1024 * sizeof *code);
again:
  op = fgetc(f);
  goto *step[op < 0 || op > 3 ? 3 : op];
plain:
  code[n++].op = op;
  goto again;
with_arg:
  code[n].op = op;
  fread(&code[n++].arg, sizeof(long), 1, f);
  goto again;
jump:
  code[n].op = op;
  code[n].target = &code[fgetc(f)];
  n++;
  goto again;
end:
  return n;
}
