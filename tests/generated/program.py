"""One random program: what its threads do, in which order, and what the model says of each step.

A program is a list of operations (thread, kind, six random numbers) in the order in which they happen. An
operation looks at the model and takes its choices from its numbers: which of the fields whose lock the
thread holds, which value. So any part of such a list is a program, too, which is how one that fails is made
smaller. run() goes through the list, leaves out what makes no sense where it stands, ends what is open, and
has then the C text of each thread and the steps.
"""
import random

import blocks  # noqa: F401: more of them
import conditions  # noqa: F401
import events  # noqa: F401
import ops
import owned  # noqa: F401
import plots
import sides  # noqa: F401
from halves import states
from judge import Judge
from model import Invalid, Model, Spoiled, key_of, need, newest

MASK = (1 << 64) - 1
ENDINGS_MAX = 60


def inputs():
    """gen_in: what programs compute from; the compiler does not know it. From 16 on small numbers."""
    dice = random.Random(7)
    return [dice.getrandbits(64) for _ in range(16)] + [1 + i % 8 for i in range(16)]


IN = inputs()


class Step:
    def __init__(self, thread, segment):
        self.thread, self.segment = thread, segment
        self.waits, self.joins = [], False
        self.pause = None              # it is not waited for, but so long (us)
        self.live, self.durable = {}, {}
        # States that may be found: the changes, and the commits that they contain of those that wait.
        self.inside, self.after = [], []
        self.waiting, self.still_waiting, self.resolved = [], [], []


class Text:
    """What one thread does: functions, each a list of lines."""

    def __init__(self):
        self.functions, self.segment = [], 0
        self.cut()

    def cut(self):
        self.functions.append([])
        shift = len(self.functions)
        self.values = [IN[(i * 3 + shift) % 16] for i in range(4)]
        self.start = [(i * 3 + shift) % 16 for i in range(4)]
        self.own = 0  # the object that only this function knows


class Program:
    inputs = IN

    def __init__(self, layout, seed, threads, operations, traits):
        self.layout, self.seed, self.operations, self.traits = layout, seed, operations, traits
        self.model = Model(threads, layout.initial(), Judge(layout.cells, layout.initial()))
        self.texts = [Text() for _ in range(threads)]
        self.steps, self.kept, self.last = [], [], None
        dice = random.Random(seed)
        self.lock_kinds = [dice.choice(ops.LOCK_KINDS) for _ in range(traits["locks"])]
        self.guards = [dice.randrange(traits["locks"]) for _ in layout.fields]
        self.quiet = dice.random() < 0.6
        self.side_guard = dice.randrange(traits["locks"])
        self.before = []
        self.sizes = {}  # of objects that were resized

    # What operations use

    def get(self, obj, offset, width):
        return sum(self.model.read(key_of(obj, offset + i)) << 8 * i for i in range(width))

    def put(self, thread, obj, offset, width, value):
        for i in range(width):
            self.model.write(thread, key_of(obj, offset + i), value >> 8 * i & 255)

    def get_pointer(self, obj, offset):
        return self.model.read(key_of(obj, offset))

    def put_pointer(self, thread, obj, offset, value):
        self.model.write(thread, key_of(obj, offset), value)

    def is_held(self, thread, field, reads=False):
        held = thread.held.get(self.guards[field.index])
        return held is False or (held is True and reads)

    def pick(self, thread, number, test, reads=False):
        """One of the fields that pass and that the thread may use."""
        found = [f for f in self.layout.fields if test(f) and self.is_held(thread, f, reads)]
        need(found)
        return found[number % len(found)]

    def values(self, thread):
        return self.texts[thread.number].values

    def cut(self, thread):
        """Another function of the thread's goes on."""
        need(self.texts[thread.number].functions[-1])
        self.texts[thread.number].cut()

    # Steps

    def say(self, thread, line):
        self.texts[thread.number].functions[-1].append(line)

    def gate(self, thread, before, waiting):
        """The thread's operation begins a step: it was another's turn, or the last ended a transaction."""
        if self.last == thread.number:
            return
        text = self.texts[thread.number]
        text.segment += 1
        self.before = before
        self.steps.append(Step(thread.number, text.segment))
        self.steps[-1].waiting = waiting
        self.last = thread.number
        self.say(thread, f"{'gate_quiet' if self.quiet else 'gate'}({thread.number}, {text.segment});")

    def close_step(self):
        """What the model says has changed since the last one."""
        model, step = self.model, self.steps[-1]
        for released in model.released:
            # Undone or not, it goes on after the others have looked.
            step.waits.append((released.number, self.texts[released.number].segment))
        for key in model.touched:
            step.live[key] = model.memory.get(key, 0)
        fresh = model.committed
        step.durable = newest(fresh)
        step.inside = list(states([*self.before, *(t for t in fresh if t not in self.before)]))
        step.after = list(states(model.maybe()))
        step.still_waiting = self.waiting()
        step.resolved = [op for op in step.waiting if op not in step.still_waiting]
        model.touched, model.committed, model.released = set(), [], []
        self.last = None

    def waiting(self):
        return [t.pending for t in self.model.threads if t.pending is not None]

    def do(self, op):
        """Gives whether it was done."""
        number, kind, numbers = op
        if number >= len(self.model.threads):
            return False
        thread = self.model.threads[number]
        if thread.ended or thread.pending is not None:
            return False
        if self.last is not None and self.last != number:
            self.close_step()
        changes, mark, before = self.model.changes, len(self.kept), (self.model.maybe(), self.waiting())
        try:
            lines = ops.KINDS[kind].make(self, thread, numbers, mark)
        except Invalid:
            if self.model.changes != changes:
                raise Spoiled(kind)
            return False
        self.kept.append(op)
        if kind == "cut":
            return True
        if thread.pending is not None and self.last is not None:
            self.close_step()  # the step that nobody waits for is the commit alone
        self.gate(thread, *before)
        for line in lines:
            self.say(thread, line)
        if thread.pending is not None:
            self.steps[-1].pause = (0, 0, 300, 1000, 25000)[numbers[5] % 5]
        if kind == "end":
            self.steps[-1].joins = True
        if ops.KINDS[kind].ends_step or self.model.committed or self.model.released:
            self.close_step()
        return True

    # The whole

    def run(self):
        for op in self.operations:
            self.do(op)
        for _ in range(ENDINGS_MAX):
            if not self.end_some():
                break
        else:
            raise Spoiled("no end")
        if not all(t.ended for t in self.model.threads):
            raise Spoiled("no end")

    def end_some(self):
        """What is still open ends: commits or aborts, locks, threads."""
        some = False
        for thread in self.model.threads:
            zeros = [self.seed + thread.number, 0, 0, 0, 0, 0]
            kinds = ["commit", "abort", "unlock", "end"]
            if self.seed + thread.number & 2:
                kinds = ["unlock", "abort", "commit", "end"]
            if thread.has_lost and self.do((thread.number, "begin", zeros)):
                some = True
            for kind in [k for k in kinds if k not in ops.LEFT_OUT]:
                while self.do((thread.number, kind, zeros)):
                    some = True
        return some


def trait(dice):
    return {"locks": dice.randint(1, 4), "early": dice.choice((0, 1, 4)), "outside": dice.choice((0, 0, 1)),
            "abort": dice.choice((0, 1, 3)), "plots": dice.choice((0, 0, 0.02, 0.1)),
            "cells": dice.choice((0.5, 1, 4)), "nodes": dice.choice((1, 1, 5)),
            "sides": dice.choice((0, 0, 0, 1, 2))}  # a second pool, opened behind the first or before


def generate(layout, seed):
    """A program of the seed: its operations are tried until enough of them make sense."""
    dice = random.Random(seed)
    traits = trait(dice)
    threads = dice.choice((1, 2, 2, 2, 3, 3, 4))
    wanted = dice.randint(6, 50)
    while True:
        draft = Program(layout, seed, threads, [], traits)
        kinds, weights = ops.weights(traits)
        number = 0
        try:
            for _ in range(wanted * 12):
                if len(draft.kept) >= wanted:
                    break
                if threads > 1 and dice.random() < traits["plots"]:
                    for one in plots.plot(dice, threads):
                        draft.do(one)
                if dice.random() < 0.25:
                    number = dice.randrange(threads)
                kind = dice.choices(kinds, weights)[0]
                draft.do((number, kind, tuple(dice.getrandbits(20) for _ in range(6))))
            program = Program(layout, seed, threads, draft.kept, traits)
            program.run()
            return program
        except Spoiled:
            continue
