/* symbol_names.c: see symbol_names.h.
 *
 * Objects of nvmove-cc name the file themselves (abi_statics.h). Nobody knows
 * which of several namesakes of one file got the number, from the linker or,
 * where a function has two static data of one name, from the compiler: all have
 * one name then, and none is found by it.
 */
#include "symbols/symbol_names.h"

#include "nvmove/abi_numbered.h"
#include "nvmove/abi_statics.h"

#include <string.h>

/* What LLVM calls the file of all that it merged. */
#define MERGED "ld-temp.o"
/* Before a number: a local symbol that several parts of the program refer to
 * (thin LTO). */
#define SHARED ".llvm"

/* The length without `.llvm.N` or `.N`. */
static size_t without_number(const char *name, size_t length) {
  size_t end = length, shared = strlen(SHARED);
  while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
    end--;
  if (end == length || !end || name[end - 1] != '.')
    return length;
  end--;
  if (end >= shared && memcmp(name + end - shared, SHARED, shared) == 0)
    return end - shared;
  return end;
}

/* What is left is what the source says, and its namesakes have, too. */
static size_t source_length(const char *name, size_t length) {
  return nvm_numbered_of(name, without_number(name, length)).length;
}

bool nvmi_symbol_is_counted(const char *symbol) {
  static const char *const begins[] = {
      "__block_",   "C.",        "CSWTCH.",       "anon.",
      "__unnamed_", "__func__.", "__FUNCTION__.", "__PRETTY_FUNCTION__."};
  const char *in = strstr(symbol, NVM_STATIC_IN);
  for (unsigned i = 0; i < sizeof begins / sizeof *begins; i++)
    if (strncmp(symbol, begins[i], strlen(begins[i])) == 0)
      return true;
  size_t length = in ? (size_t)(in - symbol) : strlen(symbol);
  return strstr(symbol, "_block_invoke") || strstr(symbol, "._omp_fn.") ||
         nvm_numbered_of(symbol, without_number(symbol, length)).is_counted;
}

bool nvmi_symbol_is_content(const char *symbol) {
  return strncmp(symbol, NVM_STATIC_CONSTANT_NAME, strlen(NVM_STATIC_CONSTANT_NAME)) == 0;
}

/* .compoundliteral.1, .str.2 */
bool nvmi_symbol_is_number(const char *symbol) {
  return *symbol == '.' && !nvmi_symbol_is_content(symbol);
}

struct nvmi_symbol_name nvmi_symbol_name(const char *symbol, const char *file) {
  size_t prefix = strlen(NVM_STATIC_CONSTANT_NAME);
  if (nvmi_symbol_is_content(symbol)) /* in whatever file, with whatever number */
    return (struct nvmi_symbol_name){
        .name = symbol, .file = "", .length = prefix + strspn(symbol + prefix, "0123456789ABCDEF")};
  const char *in = strstr(symbol, NVM_STATIC_IN), *end = in ? strstr(in, NVM_STATIC_END) : NULL;
  struct nvmi_symbol_name parts = {.name = symbol};
  const char *rest = end ? end + strlen(NVM_STATIC_END) : "";
  if (end && without_number(rest, strlen(rest)) == 0) { /* else a part or kind of it: .cold */
    parts.length = source_length(symbol, (size_t)(in - symbol));
    parts.file = in + strlen(NVM_STATIC_IN);
    parts.file_length = (size_t)(end - parts.file);
    return parts;
  }
  parts.file = strcmp(file, MERGED) == 0 ? "" : file;
  parts.length = source_length(symbol, strlen(symbol));
  parts.file_length = strlen(parts.file);
  return parts;
}

bool nvmi_symbol_is(const char *symbol, const char *file, const struct nvmi_symbol_name *wanted) {
  if (strncmp(symbol, wanted->name, wanted->length) != 0) /* most are done here */
    return false;
  struct nvmi_symbol_name parts = nvmi_symbol_name(symbol, file);
  return parts.length == wanted->length && parts.file_length == wanted->file_length &&
         memcmp(parts.file, wanted->file, parts.file_length) == 0;
}

bool nvmi_symbol_is_mark(const char *symbol) {
  return strncmp(symbol, NVM_STATIC_IN, strlen(NVM_STATIC_IN)) == 0;
}
