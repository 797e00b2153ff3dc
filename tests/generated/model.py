"""The promises of docs/reference/semantics.md as a model: memory after each step, and what has survived.

Memory is a dictionary from keys (an object's number and an offset) to values: a byte, or a pointer as
("p", target, add). A transaction has the old value of each key that it wrote, and the new one. Abort puts
the old ones back; commit carries the new ones over into `durable`. A lock that is released inside a
transaction hands on a dependence; a commit with a dependence that has not ended is pending: its thread does
nothing until it has, and then it has committed or was undone.

What lies outside transactions ends where its thread releases a lock; such a release is left out where it
would have to wait. A transaction that is undone leaves the keys that an open dependent has written since;
that one's old values are then its own.

Invalid is raised where the promises say nothing, or where a program would race or wait for ever: the
generator leaves such an operation out.

Transactions may depend on each other in a cycle, as long as all of it are explicit. When all of them wait in
their commits they commit as one. One of them is aborted only while all others wait: what a doomed one that
runs on sees is not promised.
"""
import itertools

OPEN, PENDING, COMMITTED, ABORTED = range(4)
OK, ABORTED_INSIDE, UNSAFE, BROKEN = 0, 19, 22, 24  # errnos of nvmove
LIFE = 0xffff      # the offset under which it is kept whether an object is there
SIDE = 1           # the object in the second pool
NULL, OUTSIDE = ("p", -1, 0), ("p", -2, 0)
PENDING_MAX = 3    # commits that wait at the same time: the states to allow double with each


class Invalid(Exception):
    """The operation makes no sense here."""


class Spoiled(Exception):
    """An operation was found to make no sense when a part of it was done: so does the program."""


def need(condition):
    if not condition:
        raise Invalid


def key_of(obj, offset):
    return obj << 16 | offset


class Transaction:
    def __init__(self, thread, implicit):
        self.thread, self.implicit = thread, implicit
        self.deps = thread.deps
        self.old, self.new = {}, {}
        self.first, self.when = {}, {}  # key: the number of its first write, of the last
        self.state, self.doomed = OPEN, False
        self.op = None  # the commit that is pending

    def is_live(self):
        return self.state in (OPEN, PENDING)


class Thread:
    def __init__(self, number):
        self.number = number
        self.depth, self.tx = 0, None
        self.deps = set()
        self.held = {}         # lock: whether for reading
        self.pending = None    # the operation that waits
        self.has_lost = False  # what it wrote outside transactions was undone; its next begin says so
        self.ended = False

    def live_deps(self):
        return {d for d in self.deps if d.is_live()}

    def is_broken(self):
        return any(d.state == ABORTED for d in self.deps)


class Model:
    def __init__(self, threads, initial, judge):
        self.threads, self.judge = [Thread(n) for n in range(threads)], judge
        self.memory, self.durable = dict(initial), dict(initial)
        self.tags = {}           # lock: (transaction that an acquisition depends on, a reader released)
        self.holders = {}        # lock: threads that hold it
        self.touched = set()     # keys changed in this step
        self.committed = []      # transactions, in this step
        self.results = {}        # operation's number: bits of the errnos that it may have
        self.released = []       # threads whose pending commit has ended in this step
        self.objects = SIDE + 1
        self.writes = 0
        self.changes = 0         # so that an operation that is left out is known to have changed nothing

    # Reading and writing

    def own(self, thread):
        """The transaction that a store of the thread belongs to."""
        if not thread.tx:
            # One that does not begin cannot be told of what is broken.
            need(not thread.is_broken() and not thread.has_lost)
            thread.tx = Transaction(thread, True)
        tx = thread.tx
        need(not (tx.implicit and (self.waiting_for(tx) or self.is_doomed(tx))))
        return tx

    def write(self, thread, key, value):
        tx = self.own(thread)
        if key not in tx.old:
            tx.old[key] = self.memory.get(key, 0)
            tx.first[key] = self.writes
        tx.new[key] = self.memory[key] = value
        self.writes += 1
        tx.when[key] = self.writes
        self.judge.note(tx, key, value)
        self.touched.add(key)
        self.changes += 1

    def read(self, key):
        value = self.memory.get(key, 0)
        return value

    # Dependences

    def open_transactions(self):
        return [t.tx for t in self.threads if t.tx]

    def reaches(self, tx):
        """All that the transaction depends on, itself included."""
        found, todo = set(), [tx]
        while todo:
            one = todo.pop()
            if one not in found:
                found.add(one)
                todo.extend(d for d in one.deps if d.is_live())
        return found

    def cycle(self, tx, on):
        """What lies on the ways back, when the transaction depends on that one."""
        found = {u for u in self.reaches(on) if tx in self.reaches(u)}
        return found | {tx} if found else found

    def dependents(self, tx):
        return [u for u in self.open_transactions() if u is not tx and tx in self.reaches(u)]

    def waiting_for(self, tx):
        return any(u.state == PENDING for u in self.dependents(tx))

    # Locks

    def acquire(self, thread, lock, reads=False):
        holders = self.holders.setdefault(lock, set())
        need(not holders or (reads and all(self.threads[h].held[lock] for h in holders)))
        need(thread.number not in holders)
        # A reader hands nothing on to another reader.
        fresh = {t for t, read in self.tags.get(lock, ()) if t.is_live() and t is not thread.tx
                 and not (read and reads)}
        if thread.tx:
            need(not any(u.implicit or (u.state == PENDING and self.is_unsafe(u))
                         for t in fresh for u in self.cycle(thread.tx, t)))
            need(not (thread.tx.implicit and any(self.is_doomed(t) for t in fresh)))
        self.changes += 1
        thread.deps |= fresh
        holders.add(thread.number)
        thread.held[lock] = reads

    def release(self, thread, lock):
        need(lock in thread.held)
        tx = thread.tx
        ends = tx and tx.implicit
        need(not ends or (not thread.live_deps() and not thread.is_broken()))
        loses = ends and self.is_unsafe(tx)
        if loses:
            need(len(thread.held) == 1)
            self.check_undoable(tx)
        self.changes += 1
        read = thread.held.pop(lock)
        self.holders[lock].discard(thread.number)
        if loses:
            self.undo(tx)
            thread.has_lost = True
        elif ends:
            self.finish(tx)
        tags = self.tags.setdefault(lock, set())
        if thread.tx and thread.tx.old:
            tags.add((thread.tx, read))
        else:
            tags |= {(d, read) for d in thread.live_deps()}

    # Transactions

    def begin(self, thread):
        """Whether it begins."""
        if thread.has_lost:
            need(thread.depth == 0)
            self.changes += 1
            thread.has_lost = False
            return False
        if thread.depth == 0:
            self.end_implicit(thread)
            thread.deps = thread.live_deps()
            thread.tx = Transaction(thread, False)
        self.changes += 1
        thread.depth += 1
        return True

    def end_implicit(self, thread):
        tx = thread.tx
        if tx:
            need(not thread.live_deps() and not thread.is_broken() and not self.is_unsafe(tx))
            self.finish(tx)

    def is_unsafe(self, tx):
        return self.judge.is_unsafe(tx)

    def is_doomed(self, tx):
        """It depends on a commit that will fail in its turn."""
        return any(u.state == PENDING and self.is_unsafe(u) for u in self.reaches(tx))

    def commit(self, thread, op):
        need(thread.depth)
        tx = thread.tx
        if thread.depth == 1:
            self.check_commit(tx)
        self.changes += 1
        thread.depth -= 1
        self.results[op] = 1 << OK
        if thread.depth:
            return
        if tx.doomed:
            self.results[op] = 1 << ABORTED_INSIDE
            self.undo(tx)
        elif tx.old and thread.is_broken():
            self.results[op] = 1 << BROKEN | self.is_unsafe(tx) << UNSAFE
            self.undo(tx)
        elif thread.live_deps():
            tx.state = PENDING
            thread.pending = tx.op = op
            self.settle()
            if thread.pending is None:
                self.released.remove(thread)  # it was the last of a cycle, and returns
        elif self.is_unsafe(tx):
            self.results[op] = 1 << UNSAFE
            self.undo(tx)
        else:
            self.finish(tx)

    def check_commit(self, tx):
        live, broken = tx.thread.live_deps(), tx.thread.is_broken()
        if tx.doomed or (tx.old and broken) or (not live and self.is_unsafe(tx)):
            need(tx.doomed or not (live and broken))
            self.check_undoable(tx)
        elif live:
            if self.is_unsafe(tx):
                need(not any(u.implicit and u.old for u in self.dependents(tx)))
            self.check_cycle(tx)
            need(sum(t.pending is not None for t in self.threads) < PENDING_MAX)

    def check_cycle(self, tx):
        """Who has an unsafe pointer is told as soon as it and another wait for each other: it comes last in
        its cycle, which waits for nobody else."""
        reached = self.reaches(tx)
        cycle = {u for u in reached if tx in self.reaches(u)}
        if len(cycle) > 1:
            self.judge.check_cycle(tx, cycle, self.durable)
        if len(cycle) > 1 and self.is_unsafe(tx):
            need(cycle == reached and all(u.state == PENDING for u in cycle - {tx}))

    def abort(self, thread):
        need(thread.depth)
        self.check_undoable(thread.tx)
        self.changes += 1
        thread.depth -= 1
        self.undo(thread.tx)
        if thread.depth:
            thread.tx = Transaction(thread, False)
            thread.tx.doomed = True

    def check_undoable(self, tx):
        """Nobody is told that what it wrote outside transactions is lost."""
        for one in self.dependents(tx):
            need(one.state == PENDING or not one.implicit or not one.old)
            need(one.state == PENDING or one not in self.reaches(tx))
            for other in self.dependents(one) if one.state == PENDING else ():
                need(other is tx or other.state == PENDING or other not in self.reaches(one))

    def undo(self, tx):
        self.take_back(tx)
        self.settle()

    def take_back(self, tx):
        """Those that wait for it go first."""
        tx.state = ABORTED
        for other in self.open_transactions():
            if other.state == PENDING and tx in other.deps and other is not tx and other.old:
                self.take_back(other)
                self.results[other.thread.pending] = 1 << BROKEN
                self.resume(other.thread)
        for key, value in tx.old.items():
            since = [u for u in self.open_transactions() if u.first.get(key, -1) > tx.first[key]]
            if since:
                min(since, key=lambda u: u.first[key]).old[key] = value
            else:
                self.memory[key] = value
                self.touched.add(key)
        self.leave(tx)

    def finish(self, *together):
        self.durable.update(newest(together))
        for tx in together:
            tx.state = COMMITTED
            self.committed.append(tx)
            self.leave(tx)
        self.settle()

    def leave(self, tx):
        thread = tx.thread
        thread.tx = None
        # What this one depended on the thread's next one does, too.
        thread.deps = {d for d in thread.deps if d.is_live()}

    def resume(self, thread):
        thread.pending = None
        self.released.append(thread)

    def settle(self):
        """Commits that waited for what has ended, or for each other alone."""
        for thread in self.threads:
            if thread.pending is None:
                continue
            together = self.reaches(thread.tx)
            if any(tx.state != PENDING for tx in together):
                continue
            if self.unsafe_of(together):
                together = min(map(self.reaches, together), key=len)  # what depends on nothing else
            unsafe = self.unsafe_of(together)
            if unsafe:
                self.fail_together(unsafe)
                return
            for tx in together:
                self.results[tx.thread.pending] = 1 << OK
                self.resume(tx.thread)
            self.finish(*together)
            return

    def unsafe_of(self, together):
        """Who is to blame where these commits become one; all of them, where that is not promised."""
        if self.judge.are_unsafe_together(together, self.durable):
            return list(together)
        return [tx for tx in together if self.is_unsafe(tx)]

    def fail_together(self, unsafe):
        """Commits that would have become one, of which some have stored an unsafe pointer: the first of these
        is told so, all others are broken."""
        try:
            self.check_undoable(unsafe[0])
        except Invalid:
            raise Spoiled("what a doomed one sees") from None
        ops = [tx.op for tx in unsafe]
        self.take_back(unsafe[0])
        self.resume(unsafe[0].thread)
        for op in ops:
            self.results[op] = 1 << UNSAFE | (len(ops) > 1) << BROKEN
        self.settle()

    # What may have survived

    def maybe(self):
        """Transactions that a runtime may have made durable already: an implicit one of an idle thread, for
        the sake of a commit that depends on it; and that commit."""
        found = [t for t in self.open_transactions()
                 if (t.state == PENDING and not self.is_unsafe(t)) or (t.implicit and self.waiting_for(t))]
        while True:
            kept = [t for t in found if all(d in found for d in t.deps if d.is_live())]
            if len(kept) == len(found):
                return found
            found = kept


def newest(transactions):
    """What they have written: of each key what was written last."""
    found, when = {}, {}
    for tx in transactions:
        for key, value in tx.new.items():
            if tx.when[key] > when.get(key, 0):
                found[key], when[key] = value, tx.when[key]
    return found


def closed_subsets(transactions):
    """Those in which nothing is without what it depends on; in an order in which they may be applied."""
    for count in range(1, len(transactions) + 1):
        for some in itertools.combinations(transactions, count):
            if all(d in some for one in some for d in one.deps if d in transactions):
                yield some
