"""Which transactions hold an unsafe pointer (docs/reference/semantics.md, promise 16).

A pointer field alone is judged by what the transaction stored there last, unless it frees the block. Of a
cell (cells.py) a transaction may have stored one half; the other is what lay there when it stored that, but
for what is undone since.

Transactions that depend on each other in a cycle may have stored to the same cell in turns. Then it is not
promised which of them is blamed: what each stored last itself, what lay there at the time and what was
committed before may say different things. Only what all readings agree about is generated, and commits that
together would leave an unsafe pointer: none of them may succeed.
"""
from model import ABORTED, LIFE, OUTSIDE, key_of, need, newest


class Judge:
    def __init__(self, cells, initial):
        self.initial, self.cells_at, self.history = initial, {}, {}
        for cell in cells:
            for key in keys(cell):
                self.cells_at.setdefault(key, []).append(cell)
        self.words = {key_of(0, cell.word_at) for cell in cells}

    def note(self, tx, key, value):
        """A store that was made just now."""
        if key in self.cells_at:
            self.history.setdefault(key, []).append((tx.when[key], tx, value))

    def cells_of(self, tx):
        found = []
        for key in tx.new:
            found += [c for c in self.cells_at.get(key, ()) if c not in found]
        return found

    def lay_there(self, key, when):
        for at, tx, value in reversed(self.history.get(key, ())):
            if at <= when and tx.state != ABORTED:
                return value
        return self.initial[key]

    def is_unsafe(self, tx):
        return any(value == OUTSIDE and key not in self.words and not frees(tx, key)
                   for key, value in tx.new.items()) or \
            any(self.reads_unsafe(tx, cell) for cell in self.cells_of(tx))

    def reads_unsafe(self, tx, cell):
        when = last_store(tx, cell)
        return unsafe(cell, lambda key: tx.new[key] if key in tx.new else self.lay_there(key, when))

    def shared(self, transactions):
        """Cells that two of them have stored to."""
        found = [self.cells_of(tx) for tx in transactions]
        return [cell for cell in sum(found, []) if sum(cell in some for some in found) > 1]

    def check_cycle(self, tx, cycle, durable):
        """Before its commit; raises Invalid where the readings of a cell differ."""
        together, is_last = {**durable, **newest(cycle)}, all(u is tx or u.op is not None for u in cycle)
        for cell in self.shared(cycle):
            if is_last and unsafe(cell, together.__getitem__):
                continue
            for one in cycle:
                need(cell not in self.cells_of(one) or len(set(self.readings(one, cell, durable))) == 1)

    def readings(self, tx, cell, durable):
        when = last_store(tx, cell)
        return (self.reads_unsafe(tx, cell), unsafe(cell, lambda key: self.lay_there(key, when)),
                unsafe(cell, lambda key: tx.new[key] if key in tx.new else durable[key]))

    def are_unsafe_together(self, transactions, durable):
        together = {**durable, **newest(transactions)}
        return any(unsafe(cell, together.__getitem__) for cell in self.shared(transactions))


def frees(tx, key):
    """What a transaction frees itself may point anywhere."""
    return tx.new.get(key | LIFE) == 0


def keys(cell):
    return [key_of(0, cell.word_at)] + tag_keys(cell)


def tag_keys(cell):
    return [key_of(0, cell.tag_at + i) for i in range(cell.field.decider[1])]


def last_store(tx, cell):
    return max(tx.when.get(key, 0) for key in keys(cell))


def unsafe(cell, read):
    """`read`: gives the value of a key."""
    if read(key_of(0, cell.word_at)) != OUTSIDE:
        return False
    return cell.holds(sum(read(key) << 8 * i for i, key in enumerate(tag_keys(cell))))
