"""Every source of C++ includes what defines the names of LLVM and Clang that it uses.

The preset dev precompiles headers and compiles several sources at once (cmake/Rooms.cmake), so a source may
use what only its neighbours include. Then the presets that compile each source alone, release above all, do
not build. This check reads text: a name counts as included when one of the headers that define it can be
reached from the source. A header that only declares a class in advance (`class Module;`) does not define it;
for the project's own headers that is enough.
"""
import os
import re

HEADERS = "/usr/lib/llvm-19/include"
ROOTS = ("src", "plugin", "include", "tools", "tests/unit")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
CHECKED = re.compile(r"(src|plugin|tools)/.*\.(cpp|h)$")
FORWARD = re.compile(r"^\s*(?:class|struct|enum|enum class) (\w+)(?: : \w+)?;", re.M)
WORDS = r"(?:LLVM_\w+(?:\([^)]*\))?\s+|\[\[[^\]]*\]\]\s+|alignas\([^)]*\)\s+)*"
KINDS = "(?:class|struct|union|enum|enum class)"
TYPE = re.compile(rf"^(?:  )?(?:template <.*> )?{KINDS} {WORDS}(\w+)\b(?![^{{]*;)", re.M)
FUNCTION = re.compile(r"^(?:[A-Za-z_][\w:<>,&*.\s]*?[\s&*])(\w+)\(", re.M)
ALIAS = re.compile(r"^(?:using (\w+) =|typedef .*?(\w+);)", re.M)
OWN = re.compile(r"\b(?:class|struct|enum|enum class|using|namespace) (\w+)\b(?!;)|[\s&*](\w+)\(")
QUALIFIED = re.compile(r"\b(?:llvm|clang)::(\w+)\b(?!::)")
UNQUALIFIED = re.compile(r"(?<![\w:.>])([A-Z]\w+)(?=\s*[&*]\s*\w|>)")
STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*"|//.*')


class Headers:
    """What can be reached from a file, and which headers define a name."""

    def __init__(self, tree):
        self.tree, self.texts, self.homes, self.indexed = tree, {}, {}, set()
        self.direct, self.reached, self.ahead = {}, {}, {}

    def text(self, path):
        if path not in self.texts:
            try:
                with open(path, errors="replace") as f:
                    self.texts[path] = f.read()
            except OSError:
                self.texts[path] = ""
        return self.texts[path]

    def found(self, name, beside):
        for folder in (beside, *(os.path.join(self.tree.root, r) for r in ROOTS), HEADERS):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                return os.path.normpath(path)
        return None

    def of(self, path):
        """All headers that a file includes, directly or through others."""
        if path not in self.reached:
            todo, seen = [path], set()
            while todo:
                at = todo.pop()
                if at not in self.direct:
                    beside = os.path.dirname(at)
                    self.direct[at] = {self.found(n, beside) for n in INCLUDE.findall(self.text(at))} - {None}
                todo += self.direct[at] - seen
                seen |= self.direct[at]
            self.reached[path] = seen
        return self.reached[path]

    def index(self, paths):
        for path in paths - self.indexed:
            if not path.startswith(HEADERS):
                continue
            self.indexed.add(path)
            text = self.text(path)
            for name in {*TYPE.findall(text), *FUNCTION.findall(text),
                         *(n for pair in ALIAS.findall(text) for n in pair if n)}:
                self.homes.setdefault(name, set()).add(path)

    def declared(self, path):
        """Classes that a file declares in advance."""
        if path not in self.ahead:
            self.ahead[path] = set(FORWARD.findall(self.text(path)))
        return self.ahead[path]

    def own(self, path):
        """Names that the source and the project's headers that it reaches define."""
        mine = [path, *(p for p in self.of(path) if not p.startswith(HEADERS))]
        return {name for p in mine for pair in OWN.findall(self.text(p)) for name in pair if name}


def missing(tree):
    headers = Headers(tree)
    paths = {n: os.path.join(tree.root, n) for n in tree.sources() if CHECKED.match(n)}
    for path in paths.values():
        headers.index(headers.of(path))
    for name, path in paths.items():
        text = STRINGS.sub("", headers.text(path))
        used = set(QUALIFIED.findall(text))
        if "using namespace llvm" in text:
            used |= set(UNQUALIFIED.findall(text)) - headers.own(path)
        used -= headers.declared(path)
        for each in sorted(used):
            homes = headers.homes.get(each, set())
            is_declared = name.endswith(".h") and any(each in headers.declared(p) for p in headers.of(path))
            if homes and not is_declared and not homes & headers.of(path):
                some = min(homes, key=len)[len(HEADERS) + 1:]
                yield f"{name}:1: uses {each} and does not include {some}, or another that defines it"
