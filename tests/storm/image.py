"""A pool's file after a crash, as docs/internals/pool-format.md describes it: which bytes are what.

Part: a stretch of the file with one use: "header", "chunk table", "span table", "blocks", "log" and so on.
Frame: an entry of a log, of this opening, whole. Last: the frame that was appended last to a log and those
that share its fence; and what was damaged together with it and stands directly before. Without them the log
looks as if the crash had come before (docs/reference/semantics.md, "Not covered").
"""
import ctypes
import struct

LINE, CHUNK, HEADER_BYTES = 64, 16384, 512
FREE, SMALL, LARGE, LOG, TYPES, STATICS, COUNTS = 1, 2, 3, 4, 5, 6, 7
BATCH, RING = 16384, 65536 * 64
UNDO = 1
DELAYED = 2  # log format of a pool whose commits do not wait
FIXED = (("header", 0, HEADER_BYTES), ("header", 0x1000, HEADER_BYTES), ("replay floor", 0x2000, 16),
         ("static data", 0x2040, 8), ("root", 0x3000, 8), ("log slots", 0x4000, 16 * 1024),
         ("type table", 0x8000, 32 * 1024))
FRAME = struct.Struct("<QQQQQ")
GENERATIONS = 0x9e3779b97f4a7c15

checksum = ctypes.CDLL("libxxhash.so.0").XXH3_64bits_withSeed
checksum.restype, checksum.argtypes = ctypes.c_uint64, (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64)


def block_bytes(size_class):
    """Of a span's blocks."""
    if size_class < 8:
        return 16 * (size_class + 1)
    d = 7 + (size_class - 8) // 8
    return (1 << d) + ((size_class - 8) % 8 + 1 << d - 3)


class Frame:
    def __init__(self, at, fields, bank):
        _, transaction, self.order, self.place, shape = fields
        self.at, self.bank = at, bank
        self.transaction, self.fenced = transaction >> 16, transaction & 0xffff
        self.kind, self.is_packed, self.payload = shape & 0x7f, bool(shape & 0x80), shape >> 32
        if self.kind == UNDO:  # its number of operations has the further bits
            self.fenced |= (shape >> 9 & 0x7fffff) << 16
        self.end = at + (FRAME.size + self.payload + LINE - 1) // LINE * LINE

    def shares_a_fence(self, other):
        return self.transaction == other.transaction and (
            self.is_packed or (self.kind == other.kind == UNDO and self.fenced == other.fenced))


class Image:
    def __init__(self, data):
        self.data = data
        self.parts = [part for part in FIXED if part[0] != "log slots"]
        self.heap, self.heap_bytes, generation = struct.unpack_from("<QQQ", data, 64)
        self.seed = checksum(data[32:48], 16, 0) ^ generation * GENERATIONS % 2**64
        self.find_slots()
        self.find_runs()
        self.frames = [self.frames_of(slot) for slot in self.slots]
        self.parts += [("log", f.at, f.end - f.at) for frames in self.frames for f in frames]

    def is_behind_syncs(self, changed):
        """Whether a crash of the machine explains it: of a pool whose commits do not wait, entries that no
        sync has covered; those below the replay floor nobody needs any more."""
        log_format, floor, durable = struct.unpack_from("<I", self.data, 112)[0], *self.words(0x2000, 2)
        return log_format == DELAYED and all(
            f.order >= durable or f.order < floor for frames in self.frames for f in frames
            if any(f.at <= at < f.end for at in changed))

    def word(self, at):
        return self.words(at, 1)[0]

    def words(self, at, count):
        return struct.unpack_from(f"<{count}Q", self.data, at)

    def find_slots(self):
        self.slots = []
        while len(self.slots) < 1024 and self.word(0x4000 + 16 * len(self.slots)):
            at = 0x4000 + 16 * len(self.slots)
            self.slots.append((self.word(at), self.word(at + 8)))
        self.parts.append(("log slots", 0x4000, 16 * max(len(self.slots), 1)))

    def find_runs(self):
        """The heap's runs, one behind the other."""
        chunk, chunks = 0, self.heap_bytes // CHUNK
        while chunk < chunks:
            word = self.word(0x10000 + 8 * chunk)
            kind, size_class, count = word & 0xff, word >> 8 & 0xff, max(word >> 32, 1)
            self.parts.append(("chunk table", 0x10000 + 8 * chunk, 8))
            at = self.heap + chunk * CHUNK
            if kind == SMALL:
                size = block_bytes(size_class)
                blocks = count * CHUNK // (size + 2)
                self.parts.append(("span table", at, 2 * blocks))
                first = at + (2 * blocks + LINE - 1) // LINE * LINE
                self.parts.append(("blocks", first, size * (blocks - 1)))
            elif kind in (LARGE, TYPES, STATICS):
                name = {LARGE: "blocks", TYPES: "types", STATICS: "static data"}[kind]
                self.parts.append((name, at, count * CHUNK))
            elif kind == COUNTS:
                self.add_counts(at, count * CHUNK)
            elif kind == LOG:
                self.parts.append(("log segment's head", at, LINE))
            chunk += count

    def add_counts(self, at, size):
        """The head's run, or a table; of the log what is used."""
        if at != (self.word(272) or self.word(0x1000 + 272)):
            self.parts.append(("table of counts", at, size))
            return
        self.parts.append(("head of counts", at, LINE))
        self.parts += [("batch", at + LINE + number * BATCH, 128) for number in (0, 1)]
        ring = at + LINE + 2 * BATCH
        records, last = [], {}
        for line in range(ring, ring + RING, LINE):
            _, position, transaction, count = self.words(line, 4)
            count &= 0xffffffff
            if position % (RING // LINE) == (line - ring) // LINE and 0 < count < 65535:
                summed = self.data[line + 8:line + 32 + 16 * count]
                if checksum(summed, len(summed), self.seed) == self.word(line):
                    records.append((line, len(summed) + 8))
                    last[transaction & 0xffff] = max(last.get(transaction & 0xffff, (0,)), (position, line))
        ends = {line for _, line in last.values()}
        self.parts += [("last entry" if line in ends else "reference record", line, size)
                       for line, size in records]

    def is_whole(self, frame, end):
        if not 1 <= frame.kind <= 5 or not frame.transaction or frame.end > end:
            return False
        stored, = struct.unpack_from("<Q", self.data, frame.at)
        summed = self.data[frame.at + 8:frame.at + FRAME.size + frame.payload]
        return checksum(summed, len(summed), self.seed) == stored

    def frames_of_bank(self, segment, bank):
        """All that are whole; with undo of its newest transaction, with shadow of the pass through it that
        began last."""
        found = []
        while segment:
            at, end = segment + LINE, segment + self.word(segment + 24)
            while at + LINE <= end:
                frame = Frame(at, FRAME.unpack_from(self.data, at), bank)
                if self.is_whole(frame, end):
                    found.append(frame)
                at = frame.end if found and found[-1] is frame else at + LINE
            segment = self.word(segment + 8)
        newest = max((f.transaction for f in found), default=0)
        return [f for f in found if f.transaction >= (found[0].transaction if f.is_packed else newest)]

    def frames_of(self, slot):
        """Of one log, in the order of appending; without what newer transactions have ended."""
        found = [f for number, segment in enumerate(slot) for f in self.frames_of_bank(segment, number)]
        newest = max((f.transaction for f in found), default=0)
        return sorted((f for f in found if f.is_packed or f.transaction >= newest - 1),
                      key=lambda f: f.transaction)

    def are_last(self, changed):
        """Whether a crash explains it: in each log before a fence, some of whose frames it tore."""
        for frames in self.frames:
            groups = []
            for frame in frames:
                if not groups or not groups[-1][0].shares_a_fence(frame):
                    groups.append([])
                groups[-1].append(frame)
            missing = [[any(f.at <= at < f.end for at in changed) for f in group] for group in groups]
            while missing and all(missing[-1]):
                missing.pop()
            if any(map(any, missing[:-1])):
                return False
        return True
