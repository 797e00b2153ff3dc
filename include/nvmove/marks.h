/* marks.h: what a program says about its types and functions; part of nvmove.h.
 *
 * Where nothing is said a pointer is a pointer and a number a number. What is marked otherwise
 * matters to the checks at commit, when a pool has to move to other addresses, and to what collects
 * garbage.
 */
#ifndef NVMOVE_MARKS_H
#define NVMOVE_MARKS_H

/* Read by nvmove-cc; other compilers see plain C. */
#if defined(__clang__)
#define NVM_ANNOTATE(text) __attribute__((annotate(text)))
#else
#define NVM_ANNOTATE(text)
#endif

/* In place of `struct` (Breeze, Table I): the type is persistent. */
#define NVM_STRUCT struct NVM_ANNOTATE("nvmove.struct")
/* A field that points to persistent data of the same pool. */
#define NVM_PTR(type) NVM_ANNOTATE("nvmove.pointer") type *
/* The same, not counted as a reference: back pointers, caches of a lookup. */
#define NVM_WEAK_PTR(type) NVM_ANNOTATE("nvmove.weak") type *
/* A field that points to static data of the program: a table of functions, a string literal. */
#define NVM_STATIC_PTR(type) NVM_ANNOTATE("nvmove.static") type *
/* A pointer with bits in it that are no address: those of `bits`. Also for uintptr_t fields. */
#if defined(__clang__)
#define NVM_TAGGED_PTR(type, bits) __attribute__((annotate("nvmove.tagged", bits))) type
#else
#define NVM_TAGGED_PTR(type, bits) type
#endif
/* An integer or union member that holds a pointer exactly when its value is an address within the
 * pool: the program promises that its numbers never look like one. */
#define NVM_PTR_OR_NUMBER NVM_ANNOTATE("nvmove.either")
/* The exclusive or of two pointers (or null) to the same pool, as in a list linked both ways. */
#define NVM_XOR_PTR NVM_ANNOTATE("nvmove.xor")
/* A number computed from addresses, such as the hash of a pointer: a pool that has one can never be
 * moved to other addresses. */
#define NVM_MADE_OF_ADDRESSES NVM_ANNOTATE("nvmove.address")
/* On a pointer that shares its bytes with other things (a union member; a pointer that sometimes
 * holds a number): it is one exactly when `field`, a member of the same record or of one around it
 * ("kind", "head.kind"), has one of the values, integer constants; or none of them. */
#if defined(__clang__)
#define NVM_WHEN(field, ...) __attribute__((annotate("nvmove.when", #field, __VA_ARGS__)))
#define NVM_UNLESS(field, ...) __attribute__((annotate("nvmove.unless", #field, __VA_ARGS__)))
#else
#define NVM_WHEN(field, ...)
#define NVM_UNLESS(field, ...)
#endif
/* A field whose value means nothing after a restart. A store to it is not noted, and not rolled back. Where a
 * store of more than 8 bytes to the record, or a library's function, covers it in a transaction, an abort
 * gives back the value before. Locks of the C library (mutexes, condition variables, semaphores, ...) are
 * such fields without the mark, but for those in unions; stores to them are noted. */
#define NVM_VOLATILE NVM_ANNOTATE("nvmove.volatile")
/* A function each call of which is one transaction. */
#define NVM_ATOMIC NVM_ANNOTATE("nvmove.atomic")
/* A function on entry to which what the thread has open commits, unless inside an atomic call. */
#define NVM_COMMIT_POINT NVM_ANNOTATE("nvmove.commit")
/* A function on entry to which the data are whole, too: what is open commits there if it has become
 * long, which is faster than to carry it on to the next commit point. */
#define NVM_SPLIT_POINT NVM_ANNOTATE("nvmove.split")

#endif
