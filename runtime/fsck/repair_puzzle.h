/* repair_puzzle.h: what a run is, found out by trying.
 *
 * Attempt: a word that would make sense for the run, and what follows from it. Words that nobody
 * decides may be pointers, so they count as well. An attempt under which any pointer leads into the
 * run and to no block gives something up: it is never taken. The answer is the best of the others,
 * if no attempt has more pointers lead to the starts of blocks.
 */
#pragma once

#include "fsck/repair.h"

struct nvmi_attempt {
  uint64_t word;
  uint64_t astray, inside, loose; /* of struct nvmi_survey */
  uint64_t led, starts, given_up; /* the same, of this run */
  uint32_t unmapped; /* chunks behind the next fault: where pointers to them lead is not known */
  unsigned changed, rank;
};

/* A word of the heap's table: at `chunk`, `left` chunks before the end. */
struct nvmi_puzzle {
  struct nvmi_repair *repair;
  uint32_t chunk, left;
  uint64_t damaged, before; /* before: the word of the run that ends here; 0: none */
  bool any_change;          /* how little of the word an attempt changes says nothing */
  struct nvmi_attempt best;
  uint64_t most_starts; /* of all attempts */
  bool tried, found, tied, failed;
};

uint64_t *nvmi_puzzle_word(const struct nvmi_puzzle *puzzle);
/* What follows if the run is this; leaves the word so. */
struct nvmi_attempt nvmi_attempt_with(struct nvmi_puzzle *puzzle, uint64_t word);
/* Puts an attempt among those that were made. */
void nvmi_attempt_rank(struct nvmi_puzzle *puzzle, const struct nvmi_attempt *attempt);
/* Attempts this word if it makes sense; spans of all classes. */
void nvmi_puzzle_try(struct nvmi_puzzle *puzzle, uint64_t word);
void nvmi_puzzle_try_spans(struct nvmi_puzzle *puzzle);
/* Whether `word` is a large block's, and the damaged one names no type that there is. */
bool nvmi_puzzle_is_typeless(const struct nvmi_puzzle *puzzle, uint64_t word);
/* Whether `best` is the answer. */
bool nvmi_puzzle_is_solved(const struct nvmi_puzzle *puzzle);
