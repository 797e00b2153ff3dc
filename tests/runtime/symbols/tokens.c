/* tokens.c: numbers of table entries in words with tags (runtime/symbols/tokens.h). */
#include "symbols/tokens.h"
#include "harness.h"

static const uint64_t tags[] = {0,
                                1,
                                7,
                                0xfff,
                                UINT64_C(0xff) << 56,
                                UINT64_C(0xffff) << 48,
                                UINT64_C(0xffff) << 48 | 7,
                                UINT64_C(1) << 63,
                                UINT64_C(1) << 47,
                                UINT64_C(0x7fff800000000000),
                                UINT64_C(0xffff000000007fff)};
static const uint64_t full_tags[] = {UINT64_MAX << 47, UINT64_MAX << 47 | 7, UINT64_MAX,
                                     UINT64_C(0xffff0000ffffffff)};

TEST_ONCE(tokens_of_entries_are_no_addresses) {
  static const uint32_t entries[] = {0, 1, 2, 77, 65535, 65536, UINT32_MAX - 1, UINT32_MAX};
  for (unsigned t = 0; t < sizeof tags / sizeof *tags; t++) {
    uint32_t entry;
    CHECK(nvmi_token_fits(tags[t]));
    for (unsigned e = 0; e < sizeof entries / sizeof *entries; e++) {
      uint64_t token = nvmi_token(tags[t], entries[e]);
      CHECK(!(token & tags[t]) && token >= UINT64_C(1) << 47);
      CHECK(nvmi_token_is(tags[t], token, &entry) && entry == entries[e]);
    }
    for (uint64_t address = 1; address < UINT64_C(1) << 47; address = address * 3 / 2 + 1)
      CHECK(!nvmi_token_is(tags[t], address & ~tags[t], &entry));
    CHECK(!nvmi_token_is(tags[t], 0, &entry));
    CHECK(!nvmi_token_is(tags[t], UINT64_MAX & ~tags[t], &entry) || entry == UINT32_MAX);
  }
}

TEST_ONCE(tokens_do_not_fit_where_a_tag_has_the_highest_bits) {
  for (unsigned t = 0; t < sizeof full_tags / sizeof *full_tags; t++) {
    uint32_t entry;
    CHECK(!nvmi_token_fits(full_tags[t]));
    CHECK(!nvmi_token_is(full_tags[t], 1 & ~full_tags[t], &entry));
  }
}

/* What older versions have left half bound. */
TEST_ONCE(tokens_without_a_tag_stay_the_same) {
  CHECK(nvmi_token(0, 3) == UINT64_C(0x4e56000000000003));
}
