#!/usr/bin/env python3
"""Holds libc.unsafe to its `keeps`.

usage: keeps.py NVMOVE_CC PLUGIN_FOLDER FOLDER

Others: a program stores to a pool, calls a described function that does not keep, and stores to the
same bytes again, in one transaction; in its place stands one that releases a lock. Both stores must be
there after the commit.
Keeps: each function that keeps is called, in the C library itself, and neither locks a mutex nor allocates.
"""
import os
import re
import subprocess
import sys

CC, PLUGIN, FOLDER = sys.argv[1:4]
PER_SOURCE = 300
SECONDS_MAX = 60
# clang knows by their names that nothing comes behind a call of these.
ENDS = set("exit _exit _Exit quick_exit abort longjmp _longjmp siglongjmp __longjmp_chk pthread_exit "
           "thrd_exit err errx verr verrx __assert_fail __stack_chk_fail setcontext "
           "__assert_perror_fail".split())

# Arguments where "two strings, then numbers" is wrong: P, Q and R are buffers, S leads to the place of one.
ARGUMENTS = {
    "strtok_r": "P,Q,R", "__strtok_r": "P,Q,R", "wcstok": "P,Q,R", "memmem": "P,3,Q,1",
    "clock_gettime": "0,P",
    "gettimeofday": "P,0", "strsep": "S,Q", "rawmemchr": "P,49",
}
ARGUMENTS |= {name: "P,3" for name in "bzero explicit_bzero memfrob strnlen wcsnlen".split()}
ARGUMENTS |= {"__explicit_bzero_chk": "P,3,3", "__fdelt_chk": "3"}
BY_CHARACTER = re.compile(r"is[a-z]+|to(lower|upper)")

KEPT = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static _Thread_local int watched, seen;
#define WATCH(result, name, parameters, arguments) \\
  result name parameters { \\
    static result (*real) parameters; \\
    if (!real) \\
      real = (result (*) parameters)dlsym(RTLD_NEXT, #name); \\
    seen += watched; \\
    return real arguments; \\
  }
WATCH(int, pthread_mutex_lock, (pthread_mutex_t *m), (m))
WATCH(int, pthread_mutex_unlock, (pthread_mutex_t *m), (m))
WATCH(int, pthread_rwlock_unlock, (pthread_rwlock_t *m), (m))
WATCH(void *, malloc, (size_t n), (n))
WATCH(void *, realloc, (void *p, size_t n), (p, n))
WATCH(void, free, (void *p), (p))
static char buffers[3][4096];
#define P ((long)buffers[0])
#define Q ((long)buffers[1])
#define R ((long)buffers[2])
#define S ((long)&(char *){buffers[0]})
static int wrong;
static void told(const char *name) {
  if (seen)
    printf("%s allocates or locks\\n", name), wrong = 1;
  seen = 0;
}
static void before(void) {
  for (int n = 0; n < 3; n++)
    for (int k = 0; k < 4096; k++)
      buffers[n][k] = k < 8 && k % 4 == 0 ? '1' : 0;
  watched = 1;
}
"""

RELEASES = """
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long release(void) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return 0;
}
"""

MAIN = """
#include "nvmove/nvmove.h"
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  static const char *names[] = {%s};
  static void (*calls[])(long *) = {%s};
  enum { CALLS = sizeof calls / sizeof *calls };
  (void)argc;
  NVM_POOL *pool = nvm_pool_create(argv[1], 4 << 20);
  nvm_tx_begin(pool);
  long *x = nvm_calloc(pool, 0, CALLS, 64);
  nvm_pool_set_root(pool, x);
  nvm_tx_commit(pool);
  for (int n = 0; n < CALLS; n++) {
    nvm_tx_begin(pool);
    calls[n](x + 8 * n);
    if (nvm_tx_commit(pool))
      return 2;
  }
  nvm_pool_close(pool);
  pool = nvm_pool_open(argv[1]);
  x = nvm_pool_root(pool);
  int wrong = 0;
  for (int n = 0; n < CALLS; n++)
    if (x[8 * n] != 2)
      printf("the store behind %%s is lost\\n", names[n]), wrong = 1;
  return nvm_pool_close(pool) || wrong;
}
"""


def entries():
    """name -> (arguments, keeps)"""
    found = {}
    for file in ("libc.unsafe",):
        with open(os.path.join(PLUGIN, file)) as f:
            for line in f:
                m = re.match(r"(\w+)=\{nargs:(\d+)\+?,(keeps,)?", line)
                if m:
                    found[m.group(1)] = (int(m.group(2)), bool(m.group(3)))
    return found


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=FOLDER,
                          timeout=SECONDS_MAX, **more)
    if done.returncode:
        sys.exit(f"{' '.join(command[:6])} ...: status {done.returncode}\n{done.stdout}")
    return done.stdout


def write(name, text):
    with open(os.path.join(FOLDER, name), "w") as f:
        f.write(text)


def declaration(n, name, count):
    return f'long t{n}({", ".join(["long"] * count) or "void"}) __asm__("{name}");\n'


def others(functions):
    objects, calls = [], []
    for first in range(0, len(functions), PER_SOURCE):
        part, source, renames, entry = functions[first:first + PER_SOURCE], "", "", ""
        for n, (name, count) in enumerate(part, first):
            source += declaration(n, name, count)
            source += f"void call{n}(long *x) {{ x[0] = 1; t{n}({', '.join(['0'] * count)}); x[0] = 2; }}\n"
            entry += f"{name}={{nargs:{count}+,wr_set:{{}}}}\n"
            renames += f"{name} stub{n}\n"
            calls.append(n)
        write(f"o{first}.c", source)
        write(f"o{first}.names", renames)
        write(f"o{first}.unsafe", entry)  # the arguments lead nowhere: the writes are not described
        run(CC, "-w", "-O2", f"--nvmove-unsafe=o{first}.unsafe", "-c", f"o{first}.c", "-o", f"o{first}.o")
        run("objcopy", f"--redefine-syms=o{first}.names", f"o{first}.o")
        objects.append(f"o{first}.o")
    names = ", ".join(f'"{name}"' for name, _ in functions)
    text = "".join(f"void call{n}(long *);\n" for n in calls)
    text += MAIN % (names, ", ".join(f"call{n}" for n in calls))
    write("main.c", text)
    write("stub.c", RELEASES + "".join(f"long stub{n}(void) {{ return release(); }}\n" for n in calls))
    run("clang-19", "-c", "stub.c", "-o", "stub.o")
    run(CC, "-O1", "main.c", "stub.o", *objects, "-o", "others")
    for method in ("undo", "shadow"):
        run("./others", f"{method}.pool", env=dict(os.environ, NVMOVE_METHOD=method))
        print(f"others: {len(functions)} functions that release a lock inside, {method}: all stores kept")


def keeps(functions):
    source, body = KEPT, ""
    for n, (name, count) in enumerate(functions):
        source += declaration(n, name, count)
        usual = ",".join(["P", "Q", "3", "3"][:count])
        if name.endswith("_chk") and count > 2:  # the last says how much room there is
            usual = usual[:-1] + "99"
        given = "65" if BY_CHARACTER.fullmatch(name) else ARGUMENTS.get(name, usual)
        body += f'  before(); t{n}({given}); watched = 0; told("{name}");\n'
    write("keeps.c", f"{source}int main(void) {{\n{body}  return wrong;\n}}\n")
    run("clang-19", "-w", "-O1", "-fno-builtin", "keeps.c", "-o", "keeps", "-ldl")
    print(run("./keeps"), end="")
    print(f"keeps: {len(functions)} functions, none takes a lock or memory")


def main():
    known = entries()
    others([(name, count) for name, (count, keep) in known.items() if not keep and name not in ENDS])
    present = set(re.findall(r"\b(\w+)@@?GLIBC", run("nm", "-D", "/lib/x86_64-linux-gnu/libc.so.6")))
    keeps([(name, count) for name, (count, keep) in known.items() if keep and name in present])


if __name__ == "__main__":
    main()
