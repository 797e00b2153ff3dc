/* address.c: see address.h. */
#include "format/address.h"

bool nvmi_is_former(const struct nvm_header *header, uint64_t base) {
  for (uint32_t i = 0; i < header->moves; i++)
    if (header->moved_from[i] == base)
      return true;
  return false;
}

bool nvmi_pointer_offset(const struct nvm_header *header, uint64_t value, uint64_t *offset) {
  if (nvmi_is_at(value, header->base, header->range)) {
    *offset = value - header->base;
    return true;
  }
  for (uint32_t i = 0; i < header->moves; i++)
    if (nvmi_is_at(value, header->moved_from[i], header->range)) {
      *offset = value - header->moved_from[i];
      return true;
    }
  return false;
}

/* The attempt writes down the base before it, and on the way back its own. */
bool nvmi_base_allowed(const struct nvm_header *header, uint64_t base) {
  uint32_t more = (header->base != base && !nvmi_is_former(header, header->base)) +
                  (header->base != base && !nvmi_is_former(header, base));
  return header->moves + more <= NVM_MOVES_MAX;
}
