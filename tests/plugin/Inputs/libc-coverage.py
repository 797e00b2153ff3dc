#!/usr/bin/env python3
"""Compares libc.unsafe with what the C library's headers declare.

usage: libc-coverage.py CLANG HEADERS.c LIBC_UNSAFE [COMPILER OPTION...]

Prints a line for each function whose entry has another number of arguments than its declaration, for each
that takes an address it may write through, or of an object that leads on to something it may write, and has
no entry, and for each whose name has an entry but not the one that it has in object files (pread64); exit
status 1 when there is one.
"""
import fnmatch
import json
import re
import subprocess
import sys

# Not described on purpose: neither C nor POSIX, or what they write depends on more than their arguments
# (semctl on how many semaphores there are), or they write after the call (aio_read). A call with a possibly
# persistent address is warned about. A name that ends in * stands for all that begin so, one that starts
# with * for all that end so; what _FORTIFY_SOURCE makes of a function is only left out by its own name.
LEFT_OUT = """
fcntl* ioctl syscall ptrace __* _dl_* getwd gets obstack_* argp_* *_unlocked aio_* lio_listio*
semctl fopencookie clone dladdr1 dlinfo mincore profil sigreturn sigstack
*f32 *f32x *f64 *f64x *f32_l *f32x_l *f64_l *f64x_l *f32_r *f32x_r *f64_r *f64x_r bindresvport* gai_*
getaddrinfo_a getdirentries* gethost* getnet* getproto* getrpc* getserv* getpw getsourcefilter
getipv4sourcefilter inet6_* inet_neta inet_nsap_* name_to_handle_at open_by_handle_at pkey_mprotect rcmd*
rexec* rresvport* remap_file_pages re_* cuserid getdents*
__gets_chk __getwd_chk __obstack_printf_chk __obstack_vprintf_chk __builtin_*
""".split()


CONST = re.compile(r"const ((?!\*).)*\*( ?restrict| ?const)?$")
POINTER = re.compile(r"(.*[^ ]) ?\*( ?restrict| ?const)*$|(.*)\[\d*\]$")


def type_of(node):
    return node["type"].get("desugaredQualType", node["type"]["qualType"])


def leads(spelled, records, seen=()):
    """Whether an object of a type has pointers to something not const, itself or behind const ones."""
    pointer = POINTER.match(spelled)
    if pointer and spelled.endswith("]"):
        return leads(pointer.group(3), records, seen)
    if pointer:
        pointee = pointer.group(1)
        if "(" in spelled or re.sub("const ", "", pointee) in ("FILE", "struct _IO_FILE"):
            return False
        known = pointee.split()[-1] in records or not re.match("(const )?struct ", pointee)
        return known and (not re.search(r"^const [^*]*$|const$", pointee) or leads(pointee, records, seen))
    name = spelled.split()[-1] if spelled else ""
    if name in seen or name not in records:
        return False
    return any(leads(field, records, (*seen, name)) for field in records[name])


def declared(clang, headers, options):
    """name in object files -> (name in the headers, arguments, variadic, may write through an argument)."""
    tree = json.loads(subprocess.run([clang, "-fsyntax-only", "-w", "-Xclang", "-ast-dump=json", *options,
                                      headers], capture_output=True, text=True, check=True).stdout)
    records = {}
    for node in tree["inner"]:
        fields = [type_of(n) for n in node.get("inner", []) if n["kind"] == "FieldDecl"]
        if node["kind"] == "RecordDecl" and node.get("completeDefinition"):
            records[node.get("name", "")] = fields
    found = {}
    for node in tree["inner"]:
        if node["kind"] != "FunctionDecl":
            continue
        arguments = [type_of(n) for n in node.get("inner", []) if n["kind"] == "ParmVarDecl"]
        writes = any(re.search(r"\*( ?restrict| ?const)?$|\[\d*\]$", a) and not CONST.match(a) or
                     CONST.match(a) and leads(POINTER.match(a).group(1), records) for a in arguments)
        words = len(arguments) + arguments.count("struct entry")  # an ENTRY is passed as two
        name = node["name"]
        found[node.get("mangledName", name)] = (name, words, node.get("variadic", False), writes)
    return found


def described(path):
    with open(path) as f:
        lines = re.findall(r"^(\w+)=\{nargs:(\d+)(\+?),", f.read(), re.M)
    return {name: (int(count), bool(more)) for name, count, more in lines}


def left_out(name):
    patterns = [p for p in LEFT_OUT if p != "__*"] if name.endswith("_chk") else LEFT_OUT
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def main():
    known, entries = declared(sys.argv[1], sys.argv[2], sys.argv[4:]), described(sys.argv[3])
    wrong = 0
    for name, (written, arguments, variadic, writes) in sorted(known.items()):
        if name in entries and entries[name] != (arguments, variadic):
            print(f"{name}: declared with {arguments}{'+' * variadic} arguments, its entry has "
                  f"{entries[name][0]}{'+' * entries[name][1]}")
            wrong += 1
        elif name not in entries and written in entries:
            print(f"{name}: {written} has an entry, and that name of it has none")
            wrong += 1
        elif name not in entries and writes and not left_out(name):
            print(f"{name}: may write through an argument and has no entry")
            wrong += 1
    print(f"{sum(n in entries for n in known)} declared functions described, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
