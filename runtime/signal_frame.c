/* signal_frame.c: see signal_frame.h. The unwinder knows the frame that the kernel made: what it
 * interrupted goes on at the instruction itself, not behind a call. It is glibc's helper for
 * backtraces, loaded as glibc loads it: a C program need not be linked with it.
 */
#include "signal_frame.h"

#include <dlfcn.h>
#include <stddef.h>
#include <unwind.h>

enum { FRAMES_MAX = 128 /* a handler that calls deeper counts as none */ };

static __typeof__(_Unwind_Backtrace) *backtrace;
static __typeof__(_Unwind_GetIPInfo) *place;

void nvmi_signal_frame_prepare(void) {
  void *library = dlopen("libgcc_s.so.1", RTLD_NOW);
  if (!library)
    return;
  place = (__typeof__(place))dlsym(library, "_Unwind_GetIPInfo");
  backtrace = (__typeof__(backtrace))dlsym(library, "_Unwind_Backtrace");
}

struct search {
  unsigned frames;
  bool found;
};

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument) {
  struct search *search = argument;
  int is_interrupted = 0;
  place(context, &is_interrupted);
  search->found = is_interrupted;
  return search->found || ++search->frames == FRAMES_MAX ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

bool nvmi_in_signal_handler(void) {
  struct search search = {0};
  if (backtrace && place)
    backtrace(look, &search);
  return search.found;
}
