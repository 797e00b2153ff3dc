/* statics.h: pointers from the pool to the program's functions and static data.
 *
 * They are addresses of one process: address-space randomisation and a rebuild put the same things
 * elsewhere. So the pool keeps a table of them: when a transaction that stores one commits, what it
 * points to is written down by name (symbols.h), once, before the commit; and the span that holds
 * it is marked. At the next opening the places are looked up, and where some have moved the
 * pointers in marked spans are bound anew. Fields of functions and those marked NVM_STATIC_PTR may
 * point anywhere into a module; other pointers only to what nobody can write (string constants,
 * constant tables, code), everything else in static memory being state that a restart loses.
 *
 * A library can be closed (dlclose), and another one come to lie at its addresses. Pointers to the
 * two would be the same number. So the places are looked up again once modules were unloaded: what
 * is no longer where it was, in the same build of its library, is gone, and no pointer to its
 * address commits until the pool is opened anew, which gives the two different addresses.
 *
 * Binding anew, and why a crash does no harm. Old and new addresses may overlap, so a pointer does
 * not tell for which process it was made. Therefore it goes by way of tokens (tokens.h), numbers of
 * table entries that no address equals. Bits of a tag (NVM_TAGGED_PTR) stay what they are.
 * `statics` in the header, durable before each step:
 *   NVM_STATICS_BOUND   pointers are the addresses that the table has
 *   NVM_STATICS_MIXED   each is such an address, or a token
 *   NVM_STATICS_TOKENS  all are tokens; the table's addresses mean nothing
 * Step 1: MIXED; every pointer becomes its token. Step 2: TOKENS; the table gets this process's
 * addresses. Step 3: MIXED; every token becomes an address. Then BOUND. Whatever a crash leaves is
 * one of these, and the next opening goes on from there.
 */
#pragma once

#include "heap/run_owner.h"
#include "symbols/symbols.h"

int nvmi_statics_start(struct nvm_pool *pool);
void nvmi_statics_stop(struct nvm_pool *pool);

/* At opening, after recovery and relocation: links anew what has moved. -1: recorded; something
 * that is pointed to is no longer there: the pool stays as it is. */
int nvmi_statics_relink(struct nvm_pool *pool);

/* A field of this kind holds `value`, outside of the pool, and is about to commit. NVM_OK: it
 * points to something that will be found again. NVM_EUNSAFE: it does not; not recorded. Other codes
 * are recorded. */
enum nvm_error nvmi_static_note(struct nvm_pool *pool, uint32_t kind, uint64_t value,
                                uint64_t place);

/* The variable that an address lies in, "'name' of file.c". False: no symbol has it. */
bool nvmi_static_name(const void *address, char *text, size_t size);

/* Whether an address lies in the program or one of its shared objects. */
bool nvmi_is_static(const void *address);

/* What a closed library had at `address`, as "'name' of library", if the pool may point to that and
 * something else may lie there now. */
bool nvmi_static_closed(const struct nvm_pool *pool, uint64_t address, char *text, size_t size);

enum nvmi_static_flag {
  NVMI_STATIC_CONSTANT = 1, /* nobody can write there */
  NVMI_STATIC_PROGRAM = 2,  /* it lies in the program: the address means this for ever */
  NVMI_STATIC_GONE = 4      /* a closed library had this here, and it is not here again */
};

/* statics_table.c: the number of the entry that has this address, and its flags; -1: none has it.
 * Without a lock. */
int nvmi_statics_look_up(const struct nvm_pool *pool, uint64_t address, unsigned *flags);
struct nvm_static *nvmi_statics_entry(const struct nvm_pool *pool, unsigned index);
unsigned nvmi_statics_count(const struct nvm_pool *pool);
/* What it stands for. */
void nvmi_statics_place(const struct nvm_static *entry, struct nvmi_place *place);
/* Enters a place that lies at `address` now, durably. -1: recorded. */
int nvmi_statics_add(struct nvm_pool *pool, const struct nvmi_place *place, uint64_t address);
/* Rebuilds the look-up after addresses have changed. False: out of memory. The look-up before it
 * stays until the pool is closed, since readers may still use it. */
bool nvmi_statics_index(struct nvm_pool *pool);
/* The same, where what is gone has changed. */
bool nvmi_statics_refresh(struct nvm_pool *pool);
/* What another library may have taken the place of; and up to which unloading that was looked at
 * (nvmi_modules_unloaded). */
void nvmi_statics_set_gone(struct nvm_pool *pool, unsigned index, bool is_gone);
/* The build of the module that the entry's address lies in, in this process. */
void nvmi_statics_set_build(struct nvm_pool *pool, unsigned index);
const uint8_t *nvmi_statics_build(const struct nvm_pool *pool, unsigned index);
uint64_t nvmi_statics_unloaded(const struct nvm_pool *pool);
void nvmi_statics_set_unloaded(struct nvm_pool *pool, uint64_t unloaded);
/* statics_entry.c: what belongs into an entry, and whether it is whole, in so many bytes. */
uint64_t nvmi_statics_twin(const struct nvm_pool *pool, uint64_t address);
uint64_t nvmi_statics_entry_check(const struct nvm_pool *pool, const struct nvm_static *entry);
/* Flushed, not fenced. */
void nvmi_statics_set_address(const struct nvm_pool *pool, struct nvm_static *entry,
                              uint64_t address);
bool nvmi_statics_has_address(const struct nvm_pool *pool, const struct nvm_static *entry);
bool nvmi_statics_is_whole(const struct nvm_pool *pool, const struct nvm_static *entry,
                           uint64_t room);

/* For a repair: an entry without a name in place of each one of the run that is damaged. Gives how many. */
unsigned nvmi_statics_fill_holes(const struct nvm_pool *pool, struct nvm_statics_run *run);

/* statics_runs.c: the word that leads to the first run; 0: there is none. */
uint64_t *nvmi_statics_first_link(const struct nvm_pool *pool);
/* The run that begins there; null: none does. */
const struct nvm_statics_run *nvmi_statics_run_at(const struct nvm_pool *pool, uint64_t at);
/* -1, recorded: a run with entries has lost its link. */
int nvmi_statics_miss_none(struct nvm_pool *pool);
/* The checksum that belongs into a run of the table. */
uint64_t nvmi_statics_run_check(const struct nvm_pool *pool, const struct nvm_statics_run *run);
/* Of the table's runs. */
extern const struct nvmi_run_owner nvmi_statics_owner;
