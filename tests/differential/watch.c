/* Lets the recorder watch a program's globals, from before main to after its end. */
#include "recorder.h"

#include <stdlib.h>

#define WEAK __attribute__((weak))
extern char __start_nvmdata[] WEAK, __stop_nvmdata[] WEAK, __start_nvmbss[] WEAK,
    __stop_nvmbss[] WEAK;

static void watch(char *begin, char *end) {
  if (begin != end)
    recorder_watch(begin, end);
}

__attribute__((constructor)) static void begin(void) {
  watch(__start_nvmdata, __stop_nvmdata);
  watch(__start_nvmbss, __stop_nvmbss);
}

__attribute__((destructor)) static void finish(void) {
  if (recorder_finish())
    _Exit(99);
}
