/* redirected.c: see redirected.h. Constructors tell of it, those of libraries at any time. */
#include "core/redirected.h"

#include "base/basics.h"

#include "nvmove/abi.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_bool is_redirected, has_plain, is_used;
static char plain[256];

bool nvmi_is_redirected(void) { return atomic_load_explicit(&is_redirected, memory_order_relaxed); }

const char *nvmi_plain_source(void) {
  return atomic_load_explicit(&has_plain, memory_order_acquire) ? plain : NULL;
}

void nvmi_redirected_use(void) { atomic_store(&is_used, true); }

/* The first is told of. Constructors run one after the other. */
static void add_plain(const char *name) {
  if (nvmi_plain_source())
    return;
  snprintf(plain, sizeof plain, "%s", name);
  atomic_store_explicit(&has_plain, true, memory_order_release);
  if (atomic_load(&is_used) && nvmi_is_redirected())
    nvmi_tell(
        "nvmove: '%s', which is loaded now, is compiled without --nvmove-redirect: from now on new "
        "values are stored in place at once\n",
        plain);
}

void __nvm_describe_accesses(const char *Begin, const char *End) {
  for (const char *at = Begin; at < End; at += strlen(at) + 1)
    if (strcmp(at, NVM_REDIRECTED) == 0)
      atomic_store_explicit(&is_redirected, true, memory_order_relaxed);
    else if (*at)
      add_plain(at);
}
