/* progress.c: see progress.h. */
#include "base/progress.h"

#include "nvmove/inspect.h"

void (*_Atomic nvmi_progress_report)(void *context, uint64_t done, uint64_t total);
static void *_Atomic told;

void nvm_set_progress(void (*report)(void *, uint64_t, uint64_t), void *context) {
  atomic_store(&nvmi_progress_report, NULL);
  atomic_store(&told, context);
  atomic_store(&nvmi_progress_report, report);
}

void nvmi_progress_tell(uint64_t done, uint64_t total) {
  void (*report)(void *, uint64_t, uint64_t) = atomic_load(&nvmi_progress_report);
  if (report && total)
    report(atomic_load(&told), done < total ? done : total, total);
}
