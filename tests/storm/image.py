"""A pool's file after a crash, as docs/pool-format.md describes it: which bytes are what.

Part: a stretch of the file with one use: "header", "chunk table", "span table", "blocks", "log" and so on.
Frame: an entry of a log. Last: the frame that was appended last to a log and those that share its fence; and
what was damaged together with it and stands directly before. Without them the log looks as if the crash had
come before (docs/semantics.md, "Not covered").
"""
import struct

LINE, CHUNK, HEADER_BYTES = 64, 16384, 512
FREE, SMALL, LARGE, LOG, TYPES, STATICS = 1, 2, 3, 4, 5, 6
UNDO = 1
FIXED = (("header", 0, HEADER_BYTES), ("header", 0x1000, HEADER_BYTES), ("replay floor", 0x2000, 16),
         ("static data", 0x2040, 8), ("root", 0x3000, 8), ("log slots", 0x4000, 16 * 1024),
         ("type table", 0x8000, 32 * 1024))
FRAME = struct.Struct("<QQQQQ")


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
        self.kind, self.payload = shape & 0x7f, shape >> 32
        self.end = at + (FRAME.size + self.payload + LINE - 1) // LINE * LINE


class Image:
    def __init__(self, data):
        self.data = data
        self.parts = [part for part in FIXED if part[0] != "log slots"]
        self.heap, self.heap_bytes = struct.unpack_from("<QQ", data, 64)
        self.find_slots()
        self.find_runs()
        self.frames = [self.frames_of(slot) for slot in self.slots]
        self.parts += [("log", f.at, f.end - f.at) for frames in self.frames for f in frames]

    def word(self, at):
        return struct.unpack_from("<Q", self.data, at)[0]

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
            elif kind == LOG:
                self.parts.append(("log segment's head", at, LINE))
            chunk += count

    def frames_of_bank(self, segment, bank):
        """From its start on, as long as their orders grow: behind that lie frames of another time."""
        found, order = [], 0
        while segment:
            at, end = segment + LINE, segment + self.word(segment + 24)
            while at + LINE <= end:
                frame = Frame(at, FRAME.unpack_from(self.data, at), bank)
                if not 1 <= frame.kind <= 5 or frame.end > end or frame.order < order or not frame.order:
                    return found
                found.append(frame)
                order, at = frame.order, frame.end
            segment = self.word(segment + 8)
        return found

    def frames_of(self, slot):
        """Of one log, in the order in which they were appended."""
        found = [f for number, segment in enumerate(slot) for f in self.frames_of_bank(segment, number)]
        return sorted(found, key=lambda f: (f.order, f.at))

    def are_last(self, changed):
        """Whether the frames with changed bytes are the last of their logs."""
        for frames in self.frames:
            hit = [f for f in frames if any(f.at <= at < f.end for at in changed)]
            if hit and frames.index(hit[0]) < self.last_from(frames, hit):
                return False
        return True

    @staticmethod
    def last_from(frames, hit):
        """The place of the first of those that are last, when these are damaged."""
        newest, first = frames[-1], len(frames) - 1
        while first and frames[first - 1].transaction == newest.transaction and (
                newest.kind != UNDO or frames[first - 1].fenced == newest.fenced):
            first -= 1
        while first and any(f in hit for f in frames[first:]) and frames[first - 1] in hit:
            first -= 1
        return first
