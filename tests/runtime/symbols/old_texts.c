/* old_texts.c: entries of the table of static data that older versions made: that a constant is a
 * string was guessed (runtime/symbols/symbols.h). */
#include "harness.h"
#include "symbols/statics.h"

#include <stdio.h>
#include <string.h>

TEST(old_texts_are_found_by_their_bytes) {
  static const char *volatile text = "a text that older versions took for one";
  char old[64];
  snprintf(old, sizeof old, "%s", text);
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  struct nvmi_place place = {
      .module = "", .build_id = {7}, .name = "", .file = "", .text = old, .is_constant = true};
  CHECK(nvmi_statics_add(pool, &place, UINT64_C(0x555555555555)) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  CHECK(nvmi_statics_count(pool) == 1);
  uint64_t address = nvmi_statics_entry(pool, 0)->address;
  CHECK(address != (uintptr_t)old && strcmp((const char *)(uintptr_t)address, old) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}
