/* symbol_names.h: what the source calls a symbol. Compilers number namesakes.
 * Linkers that optimise all sources as one do so, too, and forget the files they
 * came from. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Parts of texts, which have to stay. */
struct nvmi_symbol_name {
  const char *name, *file; /* file: of a local one; else, or if nothing says it, empty */
  size_t length, file_length;
};

/* Of a symbol of the symbol table, and the file that is said there; "": it is
 * not local. */
struct nvmi_symbol_name nvmi_symbol_name(const char *symbol, const char *file);

/* Whether the name says what the symbol holds (NVM_STATIC_CONSTANT_NAME): namesakes are as good. */
bool nvmi_symbol_is_content(const char *symbol);

/* Whether it is a compiler's own name, which tells things apart by numbers alone. */
bool nvmi_symbol_is_number(const char *symbol);

/* Whether it says nothing that another build would say of the same thing: a compiler counted lambdas,
 * types without a name, blocks, its own constants. */
bool nvmi_symbol_is_counted(const char *symbol);

bool nvmi_symbol_is(const char *symbol, const char *file, const struct nvmi_symbol_name *wanted);

/* Whether it marks its object as made for link-time optimisation by nvmove-cc. */
bool nvmi_symbol_is_mark(const char *symbol);
