"""Each rule about the newer rooms is seen to fail: a small tree that breaks it, and what tidy says of it."""
import os
import subprocess
import tempfile

import tidy

SETTING = 'SETTING(NVMOVE_X, TEXT, "libnvmove", "a", "b")\n'
# Rule, file, text, part of the message it must give.
BROKEN = [
    ("c_layering", "runtime/pool/pool.c", '#include "support/Files.h"\n', "may not use support/Files.h"),
    ("c_layering", "include/nvmove/x.h", '#include "layout.h"\n', "a public header may not use"),
    ("c_layering", "runtime/log/log.c", "#include <immintrin.h>\n", "may know the processor"),
    ("c_layering", "runtime/log/log.c", "void f(void) { _mm_sfence(); }\n", "may know the processor"),
    ("c_names", "runtime/log/log.c", "int append(int x) {\n", "append is neither static"),
    ("headers", "include/nvmove/x.h", "#pragma once\n", "no guard"),
    ("headers", "runtime/x.h", "int x;\n", "no #pragma once"),
    ("header_comments", "runtime/x.c", "int x;\n", "opens without a comment"),
    ("sizes", "runtime/x.h", "\n" * 201, "at most 200"),
    ("function_lengths", "runtime/x.c", "int f(void) {\n" + "  g();\n" * 80 + "}\n", "at most 70"),
    ("leftovers", "runtime/x.c", "exit(1);\n", "exit() in a library"),
    ("dead_files", "runtime/x.h", "int x;\n", "nobody uses it"),
    ("links", "docs/a.md", "see docs/nowhere.md\n", "docs/nowhere.md does not exist"),
    ("links", "docs/a.md", "see [this](b.md)\n", "b.md does not exist"),
    ("settings_are_known", "runtime/base/settings.def", SETTING, "not what tests/tidy/settings.py"),
    ("formatting", "runtime/x.c", "int   x;\n", "clang-formatted"),
    ("locks_survive_fork", "runtime/log/x.c", "static pthread_mutex_t lock;\n", "does not bring it over"),
    ("locks_survive_fork", "runtime/log/x.h", "  struct nvmi_mutex lock;\n", "lock is never added"),
    ("uncancelled", "runtime/log/x.c", "int x = 3,\n    y = close(x);\n", "cancelled in close"),
    ("runtime_rooms", "runtime/base/x.c", '#include "log/log.h"\n', "which is above it"),
    ("runtime_rooms", "runtime/x.c", "int x;\n", "in none of the rooms"),
    ("floors_of_rooms", "plugin/ir/A.cpp", '#include "unsafe/B.h"\n', "which is above it"),
    ("floors_of_rooms", "src/solve/Result.h", '#include "solve/reach/B.h"\n', "which is above it"),
    ("floors_of_rooms", "plugin/elsewhere/A.cpp", "int x;\n", "on none of the floors"),
    ("layering", "plugin/A.cpp", '#include "support/Files.h"\n', "plugin may not use support"),
    ("layering", "src/solve/A.cpp", '#include "clang/AST/Decl.h"\n', "may see Clang headers"),
    ("layering", "src/scan/A.cpp", '#include "llvm/IR/Module.h"\n', "scan may not see"),
    ("layering", "tools/nvmove-cc/A.cpp", '#include "llvm/ADT/Any.h"\n', "nvmove-cc may not see"),
    ("layering", "tools/nvmove-cc/A.cpp", '#include "support/Files.h"\n', "may not use support"),
    ("dead_files", "plugin/A.h", "#pragma once\n", "nobody uses it"),
    ("sizes", "plugin/A.h", "\n" * 201, "at most 200"),
    ("one_name_one_source", "src/pool/A.cpp", "namespace {\nint where(B C) {\n",
     "has a function where"),
    ("one_name_one_source", "src/pool/deeper/A.cpp", "namespace {\nint where(B C) {\n",
     "has a function where"),
    ("own_includes", "plugin/A.cpp", "using namespace llvm;\nbool is(Module &M) { return M.empty(); }\n",
     "uses Module and does not include llvm/IR/Module.h"),
    ("own_includes", "plugin/A.h", "bool is(const llvm::Module &M);\n", "uses Module"),
    ("own_includes", "src/scan/A.cpp", "auto Line = llvm::utohexstr(1);\n", "uses utohexstr"),
    ("python_names", "tests/scan/Inputs/types.py", "import re\n", "hides a module"),
]
# What the same rules must let through.
SOUND = [
    ("c_layering", "runtime/methods/a.c", '#include "log/log.h"\n#include "nvmove/abi.h"\n'),
    ("c_layering", "runtime/platform/persist.c", "#include <immintrin.h>\n"),
    ("c_names", "runtime/log/log.c", "static int append(int x) {\nvoid nvmi_a(void) {\nint nvm_b(void) {\n"),
    ("layering", "plugin/A.cpp", '#include "clang/AST/Decl.h"\n#include "llvm/IR/Module.h"\n'),
    ("layering", "src/scan/A.cpp", '#include "llvm/ADT/StringRef.h"\n'),
    ("floors_of_rooms", "plugin/A.cpp", '#include "unsafe/B.h"\n'),
    ("floors_of_rooms", "src/solve/reach/A.cpp", '#include "solve/Result.h"\n#include "solve/reach/B.h"\n'),
    ("own_includes", "plugin/A.cpp", '#include "Late.h"\nusing namespace llvm;\nbool is(Module &M);\n'),
    ("own_includes", "plugin/A.cpp", "using namespace llvm;\nnamespace llvm {\nclass Module;\n}\nModule &M;"),
    ("one_name_one_source", "src/scan/A.cpp", "namespace {\nstd::string where(B C) {\n"),
    ("one_name_one_source", "src/pool/A.cpp", "namespace {\n} // namespace\nstd::string where(B C) {\n"),
]


# Beside each: headers of rooms, and an anonymous function.
BESIDE = [("runtime/log/log.h", "/* x */\n"), ("plugin/unsafe/B.h", "// x\n"),
          ("src/solve/reach/B.h", "// x\n"), ("src/pool/Z.cpp", "namespace {\n\nint where(A &B) {\n"),
          ("plugin/Late.h", '#include "llvm/ADT/StringExtras.h"\n#include "llvm/IR/Module.h"\n'),
          ("plugin/Late.cpp", '#include "Late.h"\n')]


def findings(rule, name, text):
    with tempfile.TemporaryDirectory() as root:
        for path, content in ((name, text), *BESIDE):
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w") as f:
                f.write(content)
        subprocess.run(["git", "init", "-q", root], check=True)
        return list(getattr(tidy, rule)(tidy.Tree(root)))


def run():
    failed = 0
    for rule, name, text, message in BROKEN:
        if not any(message in found for found in findings(rule, name, text)):
            failed += 1
            print(f"selftest: {rule} says nothing of {name}: {text[:40]!r}")
    for rule, name, text in SOUND:
        found = findings(rule, name, text)
        if found:
            failed += 1
            print(f"selftest: {found}")
    return len(BROKEN) + len(SOUND) - failed, failed
