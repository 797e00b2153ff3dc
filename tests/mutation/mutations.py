"""What mutate.py removes: statements and conditions of the runtime, each one line changed by one rule."""
import collections
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# How a line may come to a pool.
TO_A_POOL = r"(?:[\w()\[\]]+->)*pool->persist->"

# What is removed: a regular expression for a statement on one line, and what stands there instead.
RULES = [
    ("fence", TO_A_POOL + r"fence\(\);", ";"),
    ("fence", r"nvmi_fence\((?:log|record->log)\);", ";"),
    ("flush", TO_A_POOL + r"flush\(.*\);", ";"),
    ("flush", r"^\s*flush\(\(void \*\).*\);", ";"),
    ("flush", r"^\s*flush_lines\(.*\);", ";"),
    ("flush", TO_A_POOL + r"(stream|store_line|append)\(", r"nvmi_persist_process()->\1("),
    ("append", r"pool->persist->append\(place, frame, size\);", ";"),
    ("append", r"^\s*retire\(log, ending\);", ";"),
    ("checksum", r"segment->check == nvmi_segment_check\(pool, segment\) &&", ""),
    ("checksum", r"frame->check == nvmi_check_by\(", "0 == 0 * nvmi_check_by("),
    ("checksum", r"return record->check == nvmi_check_by\(", "return 0 == 0 * nvmi_check_by("),
    ("checksum", r"batch->check != nvmi_batch_check\(pool, batch\)", "0"),
    ("checksum", r"head->check != check_of\(pool, head\) \|\|", ""),
    ("order", r"^\s*nvmi_counts_(?:spoil|drain)\(pool\);", ";"),
    ("order", r"^\s*make_void\(log, position\);", ";"),
    ("checksum", r"j.header.check == nvmi_header_check\(&j.header\) &&", ""),
    ("checksum", r"return entry->check == nvmi_type_entry_check\(pool, entry, record\) \? record : NULL;",
     "return record;"),
    ("checksum", r"return data_arrived\(pool, found, commit\) \? commit : NULL;", "return commit;"),
    ("order", r"^\s*nvmi_log_await\(.*\);", ";"),
    ("order", r"^\s*nvmi_log_raise_bound\(.*\);", ";"),
    ("order", r"^\s*become_several\(pool, count\);", ";"),
    ("order", r"^\s*nvmi_barrier_in_all_threads\(\);", ";"),
    ("order", r"^\s*sort\(&work->(?:redo|undo)\);", ";"),
    ("order", r"items\(&work->redo\)\[i\]->order < work->bound", "0"),
    ("order", r"atomic_store_explicit\(&log->pending, 0, memory_order_release\);", ";"),
    ("order", r"span->freed_order >= floor", "0"),
    ("order", r"atomic_load_explicit\(&span->freed_order, memory_order_acquire\) < bound", "1"),
    ("order", r"^\s*some \|= flush_last\(.*\);", ";"),
    ("order", r"while \(nvmi_checkpoint\(pool\) < all\)", "while (0)"),
    ("order", r"if \(!log->last && !log->bank_tells\)", "if (0)"),
    ("order", r"^\s*nvmi_log_publish\(log, frame, size\);", ";"),
    ("order", r"if \(commit && commit->place > work->bound\)", "if (0)"),
    ("order", r"known > bound \? known : bound;", "bound;"),
    ("order", r"if \(pending && pending < bound\)", "if (0)"),
    ("order", r"^\s*raise_freed_order\(.*\);", ";"),
    ("order", r"^\s*commit_behind\(log, \w+\);", ";"),
    ("order", r"^\s*nvmi_order_(?:release|acquire)\(lock\);", ";"),
    ("order", r"^\s*nvmi_header_write\(pool\);", ";"),
    ("order", r"!is_undo \|\| ended", "!is_undo"),
]
# Locks, order, abort, ends of logs, aliases, commits that do not wait: the place of a mistake is not
# known by its name, so all is tried.
WHOLE = ["runtime/" + name for name in
         ("order/order.c", "order/order_join.c", "order/commit_wait.c", "order/waits.c", "order/node.c",
          "order/undoing.c", "order/kept_blocks.c", "interpose/locks.c", "tx/tx_order.c", "tx/quiesce.c",
          "tx/thread_end.c", "pool/close_logs.c",
          "tx/landed.c", "tx/dram_limit.c", "interpose/jumps.c", "base/signals.c", "core/exits.c",
          "core/gate.c", "core/standstill.c",
          "judge/judge.c", "judge/own_image.c", "judge/pointers_safe.c", "judge/unnoted.c", "tx/called.c",
          "tx/note_call.c",
          "log/log_end.c", "platform/sync.c",
          "base/signal_frame.c", "methods/shadow_abort.c", "methods/undo_own.c",
          "core/alias.c", "core/handed.c", "tx/wrap.c", "methods/lat.c", "methods/latb.c",
          "platform/delayed.c", "platform/late_sync.c", "pool/recover_cut.c")]
# What only tells the compiler, or ThreadSanitizer, of an order that is there.
NOTHING_DONE = "(?:nvmi_compiler_barrier|nvmi_says_it_rests|nvmi_sees_at_rest)"
WHOLE_RULES = [
    ("statement", rf"^(\s+)(?!{NOTHING_DONE}\()[a-z_]\w*\(.*\);$", r"\1;"),
    ("statement", r"^(\s+)[\w>\-.\[\]*]+ [-+|&]?= .*;$", r"\1;"),
    ("statement", r"^(\s+)[\w>\-.\[\]]+(?:\+\+|--);$", r"\1;"),
    ("condition", r"^(\s+(?:\} else )?)if \((.*)\)( \{)?$", r"\1if (0)\3"),
]

# Where no test notices, and why: "file: function: text of the line". docs/internals/reliability.md says more.
SURVIVORS = {
    "runtime/judge/judge.c: judge_decided: some = in_line(written, nvmi_field_decided_by(field, record, 0), "
    "field->stride, field->count);":
        "Only time: each element is asked whether a byte that decides about it was written in the line, and "
        "of those that are left out by this none reaches into the line.",
    "runtime/judge/judge.c: nvmi_judge_word: if (!(judge->words >> "
    "(word < NVMI_JUDGED_LATER_BIT ? word : NVMI_JUDGED_LATER_BIT) & 1))":
        "Only time: a bit is there for each word where a field that is judged begins (judged.c), and the "
        "search behind it finds fields that begin there, or none.",
    "runtime/judge/judge.c: judge_record: if (!nvmi_is_judged(field->kind))":
        "Only time: judge_field asks the same of each word that is found.",
    "runtime/methods/lat.c: lat_commit: if (single && commit_short(log, single, rest))":
        "Only time: nvmi_redo_commit writes a record of the same bytes, with as many fences and flushes.",
    "runtime/core/standstill.c: nvmi_others_look: if (tries)": "Only time: a pause.",
    "runtime/core/standstill.c: nvmi_others_look: nvmi_pause(tries);": "Only time: a pause.",
    "runtime/core/standstill.c: nvmi_others_have_open: nvmi_pause(tries);": "Only time: a pause.",
    "runtime/order/order.c: nvmi_order_waits: if (!thread->node)":
        "Only time: nothing waits without a node, and a lock is taken to find that out.",
    "runtime/platform/late_sync.c: sync_late: if (!late->asked)":
        "Only time: a sync without a record does nothing, and one that is asked for begins in time.",
    "runtime/platform/delayed.c: copy_all: if (!left) {":
        "Only time: 64 pages are passed over at once, and copy() looks at the bit of each page itself.",
    "runtime/tx/wrap.c: __attribute__: "
    "if (NVMI_LIKELY(log && inside <= NVM_LINE_SIZE - sizeof value && !nvmi_handed_some())) {":
        "Only time: a short way to the one line that has the word; nvmi_read finds the same bytes.",
    "runtime/tx/wrap.c: __attribute__: if (NVMI_LIKELY(aliased == all || !aliased)) {":
        "Only time: the same short way.",
}


class Mutation:
    def __init__(self, kind, name, function, number, old, new):
        self.kind, self.name, self.function, self.number = kind, name, function, number
        self.old, self.new, self.copy = old, new, 1

    def __str__(self):
        return f"{self.kind}: {self.name}:{self.number}: {self.old.strip()}"

    def is_at(self, name, number):
        return (self.name, self.number) == (name, number)

    def key(self):
        """The same wherever the function stands; of the same line in one function the second has a number."""
        number = f" ({self.copy})" if self.copy > 1 else ""
        return f"{self.name}: {self.function}: {self.old.split('/*')[0].strip()}{number}"


def sources():
    return sorted(os.path.relpath(os.path.join(where, name), ROOT)
                  for where, _, names in os.walk(os.path.join(ROOT, "runtime"))
                  for name in names if name.endswith((".c", ".h")))


def is_whole(line):
    """A statement that neither began on an earlier line nor goes on."""
    return line.count("(") == line.count(")")


def looks_only(line):
    """Whether an invariant is looked at, which changes nothing."""
    return re.match(r"\s+(assert|NVMI_HOLDS)\(", line) is not None


def mutations():
    found, keys = [], collections.Counter()
    for name in sources():
        rules = RULES + (WHOLE_RULES if name in WHOLE else [])
        with open(os.path.join(ROOT, name)) as f:
            lines = f.read().split("\n")
        function, is_for_tests = "", False
        for number, line in enumerate(lines, 1):
            is_for_tests = (is_for_tests or line == "#ifndef NDEBUG") and line != "#endif"
            if is_for_tests or looks_only(line):
                continue
            begins = re.match(r"\w.*?\b(\w+)\(", line)
            function = begins.group(1) if begins and not line.startswith("#") else function
            for kind, pattern, instead in rules:
                new = re.sub(pattern, instead, line)
                known = found and found[-1].is_at(name, number)
                part = kind in ("statement", "condition") and not is_whole(line)
                if new != line and not part and not known:
                    found.append(Mutation(kind, name, function, number, line, new))
                    keys[found[-1].key()] += 1
                    found[-1].copy = keys[found[-1].key()]
    return found
