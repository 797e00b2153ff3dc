"""A batch of programs as C, and the script that the harness follows (harness.c says what it means)."""
import itertools
import random

from layout import Layout
from model import LIFE
from program import IN, generate

HEAD = """\
#include "harness.h"

u64 gen_in[32] = {%s};
static u64 gen_outside[64];
static NVM_POOL *gen_pool;
static u64 *gen_side;
static struct world *gen_world;
static struct { u32 *at, value; pthread_mutex_t *mutex; } gen_back;
u64 gen_sink;

static __attribute__((malloc, noinline)) struct node *gen_make(unsigned object, int op) {
  struct node *n = nvm_calloc(gen_pool, NVM_TYPE_ID(struct node), 1, sizeof *n);
  if (!n)
    gen_check(-1, 0, op);
  gen_objects[object] = (u64)(uintptr_t)n;
  return n;
}
static __attribute__((noinline)) void own_touch(pthread_mutex_t *mutex) {
  pthread_mutex_unlock(mutex);
  pthread_mutex_lock(mutex);
}
static int gen_compare(const void *a, const void *b) {
  if (gen_back.at)
    *gen_back.at = gen_back.value;
  if (gen_back.mutex)
    own_touch(gen_back.mutex);
  u32 x = *(const u32 *)a, y = *(const u32 *)b;
  return x < y ? -1 : x > y;
}
static void gen_handler(int number) {
  (void)number;
  *gen_back.at = gen_back.value;
}
static void start(NVM_POOL *pool, void *world, void *side) {
  gen_pool = pool;
  gen_side = side;
  gen_world = world;
  signal(SIGUSR1, gen_handler);
}
static uint64_t world_type(void) { return NVM_TYPE_ID(struct world); }
"""
TAIL = """\
const struct gen_table gen_table = {%d, gen_programs, world_type, sizeof(struct world), fill, start};
"""
COUNTED = (0.15, 0.6)  # how many programs run in pools that count references; where they have many nodes
METHODS, DOMAINS = ("undo", "shadow"), ("process", "power", "disk", "delayed")


def function(program, name, text, index):
    lines = text.functions[index]
    starts = ", ".join(f"{x} = gen_in[{(i * 3 + index + 1) % 16}]" for i, x in enumerate("abcd"))
    attribute = "__attribute__((noinline)) " if program.seed + index & 3 else ""
    out = [f"static {attribute}void {name}(struct world *w) {{", f"  u64 {starts};",
           "  struct node *own = 0;"]
    for line in lines:
        if "ALLOWED(" in line:
            before, rest = line.split("ALLOWED(")
            number, after = rest.split(")", 1)
            line = f"{before}{program.model.results.get(int(number), 1):#x}{after}"
        out.append("  " + line)
    return "\n".join([*out, "  gen_sink = a ^ b ^ c ^ d;", "  (void)w, (void)own;", "}", ""])


def program_text(program, number):
    guards = " ".join(map(str, program.guards))
    parts, bodies = [f"/* Program {number}: seed {program.seed}, locks {', '.join(program.lock_kinds)}; "
                     f"guards {guards} */"], []
    for t, text in enumerate(program.texts):
        names = [f"p{number}_t{t}_f{i}" for i in range(len(text.functions))]
        parts += [function(program, name, text, i) for i, name in enumerate(names)]
        calls = " ".join(f"{name}(gen_world);" for name in names)
        parts.append(f"static void p{number}_t{t}(void) {{ {calls} gate({t}, {text.segment + 1}); }}\n")
        bodies.append(f"p{number}_t{t}")
    return "\n".join(parts), f"{{{len(bodies)}, {{{', '.join(bodies)}}}}}"


def source(layout, programs):
    texts, rows = zip(*(program_text(p, i) for i, p in enumerate(programs)))
    head = HEAD % ", ".join(f"{v}u" if v < 1 << 32 else f"{v}ull" for v in IN)
    front, rest = head.split("u64 gen_in", 1)
    return (front + layout.declaration() + "u64 gen_in" + rest + layout.fill_text() + "\n".join(texts) +
            f"static const struct gen_program gen_programs[] = {{{', '.join(rows)}}};\n" + TAIL % len(rows))


# The script

def changes(delta):
    """A dictionary of keys and values as the harness's lines."""
    lines, keys = [], sorted(delta)
    for key in keys:
        if key & 0xffff == LIFE:
            lines.append(f"{'+' if delta[key] else '-'} {key >> 16}")
    plain = [k for k in keys if k & 0xffff != LIFE]
    covered = {k + i for k in plain if isinstance(delta[k], tuple) for i in range(1, 8)}
    run_start, run = None, []
    for key in [*plain, None]:
        ends = key is None or key in covered or isinstance(delta[key], tuple) or \
            (run and key != run_start + len(run))
        if ends and run:
            lines.append(f"b {run_start >> 16} {run_start & 0xffff} {bytes(run).hex()}")
            run = []
        if key is None or key in covered:
            continue
        if isinstance(delta[key], tuple):
            lines.append(f"p {key >> 16} {key & 0xffff} {delta[key][1]} {delta[key][2]}")
            continue
        if not run:
            run_start = key
        run.append(delta[key])
    return lines


def numbers(some):
    return "".join(f" {n}" for n in some)


def steps(program):
    pointers = changes({k: v for k, v in program.layout.initial().items() if isinstance(v, tuple)})
    lines = ["S 0", "L", *pointers, "D", *pointers]
    for number, step in enumerate(program.steps, 1):
        lines += [f"S {number}", "X" + numbers(step.waiting), "Y" + numbers(step.still_waiting)]
        if step.joins:
            lines.append(f"J {step.thread} {1 << 19}")
        elif step.pause is None:
            lines.append(f"G {step.thread} {step.segment}")
        else:
            lines.append(f"N {step.thread} {step.segment} {step.pause}")
        lines += [f"W {thread} {segment}" for thread, segment in step.waits]
        lines += ["L", *changes(step.live)]
        for state, contained in step.inside:
            lines += ["I" + numbers(contained), *changes(state)]
        lines += ["D" + numbers(step.resolved), *changes(step.durable)]
        for state, contained in step.after:
            lines += ["A" + numbers(contained), *changes(state)]
    return lines


def runs(program, methods, dice):
    """The runs to make: one to the end, some that are killed."""
    def other(method):
        return dice.choice(METHODS) if methods == "both" else method

    def row(kind, step, kill, recover=0):
        method = dice.choice(METHODS) if methods == "both" else methods
        looks = {"shadow": 0.3, "undo": 0}.get(method, 0.5)  # harness.c
        compare = int(dice.random() < looks)
        return f"R {kind} {step} {kill} {method} {dice.choice(DOMAINS)} {other(method)} {recover} {compare}" \
            f" {counts}"

    counts = int(dice.random() < COUNTED[program.traits["nodes"] > 1])
    inside = ("append", "commit", "commit") + ("count",) * counts
    ends = [i for i, s in enumerate(program.steps, 1) if s.durable or s.waits or s.pause is not None]
    made = [row("whole", -1, "-")]
    for _ in range(2):
        step = dice.choice(ends) if ends and dice.random() < 0.7 else dice.randint(1, len(program.steps))
        made.append(row("step", step, "-", dice.choice((0, 0, 1, 2, 3))))
    for _ in range(3):
        kill = f"{dice.choice(inside)}:{int(dice.random() ** 2 * 60) + 1}"
        made.append(row("inside", -1, kill, dice.choice((0, 0, 1, 2, 3))))
    return made


def cell_line(cell):
    f = cell.field
    _, width, first, bits = f.decider
    where = f"C {cell.word_at} {cell.tag_at} {width} {first} {bits} {int(f.unless)}"
    return where + numbers(sorted(f.values))


def script(programs, run_lists):
    lines = []
    for number, (program, rows) in enumerate(zip(programs, run_lists)):
        cells = map(cell_line, program.layout.cells)
        lines += [f"P {number} 56 {program.traits['sides']}", *cells, *rows, *steps(program), "E"]
    return "\n".join(lines) + "\n"


def batch(seed, count):
    """(layout, programs): those of the seeds seed, seed + 1, ..."""
    layout = Layout(random.Random(seed))
    return layout, [generate(layout, s) for s in itertools.islice(itertools.count(seed), count)]
