/* call.c: see call.h. The call is made as C calls: six registers for integers and addresses. */
#define _GNU_SOURCE
#include "admin/call.h"

#include "base/settings.h"
#include "symbols/statics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 4096, ARGUMENTS_MAX = 6 };

bool nvmi_call_armed;

/* "save(1,\"x\")", taken apart; the texts are in `text`. */
struct call {
  char text[TEXT_MAX];
  const char *name, *file; /* file: of "main.c:save", a file-local function; else "" */
  long arguments[ARGUMENTS_MAX];
};

static void report(const char *line) {
  const char *path = nvmi_setting("NVMOVE_CALL_DONE");
  FILE *done = path ? fopen(path, "w") : NULL;
  if (!done)
    return;
  fputs(line, done);
  fclose(done);
}

void nvmi_call_arm(const struct nvm_pool *pool) {
  const char *path = nvmi_setting("NVMOVE_CALL_POOL");
  struct stat wanted, opened;
  if (!pool->is_copy || !path || stat(path, &wanted) || fstat(pool->fd, &opened) ||
      wanted.st_ino != opened.st_ino || wanted.st_dev != opened.st_dev)
    return;
  if (nvmi_setting("NVMOVE_CALL"))
    nvmi_call_armed = true;
  else
    report("opened\n");
}

/* One argument at `*at`; moves on behind it. Texts have no escapes. */
static bool parse_argument(char **at, long *argument) {
  if (**at == '"') {
    char *end = strchr(*at + 1, '"');
    if (!end)
      return false;
    *argument = (long)(intptr_t)(*at + 1);
    *end = 0;
    *at = end + 1;
    return true;
  }
  char *end;
  *argument = strtol(*at, &end, 0);
  bool is_number = end != *at;
  *at = end;
  return is_number;
}

static bool parse(struct call *call, const char *said) {
  if (strlen(said) >= sizeof call->text)
    return false;
  memcpy(call->text, said, strlen(said) + 1);
  char *at = strchr(call->text, '('), *colon = strchr(call->text, ':');
  if (!at || at == call->text)
    return false;
  *at++ = 0;
  bool is_local = colon && colon < at - 1;
  if (is_local)
    *colon = 0;
  call->file = is_local ? call->text : "";
  call->name = is_local ? colon + 1 : call->text;
  for (unsigned i = 0; i < ARGUMENTS_MAX; i++) {
    at += strspn(at, " ");
    if (*at == ')')
      return !at[1];
    if (!parse_argument(&at, &call->arguments[i]))
      return false;
    at += strspn(at, " ");
    if (*at == ',')
      at++;
    else if (*at != ')')
      return false;
  }
  return strcmp(at, ")") == 0;
}

void nvmi_call_now(void) {
  static struct call call;
  char line[TEXT_MAX + 100];
  uint64_t address;
  nvmi_call_armed = false;
  const char *said = nvmi_setting("NVMOVE_CALL");
  if (!said || !parse(&call, said)) {
    report("error: what is to be called is written name(1,\"text\"), with up to six arguments\n");
    _exit(1);
  }
  struct nvmi_place place = {.module = "", .name = call.name, .file = call.file};
  enum nvmi_found found = nvmi_static_find(&place, &address);
  if (found != NVMI_FOUND) {
    snprintf(line, sizeof line, "error: the program %s function %s%s\n",
             found == NVMI_AMBIGUOUS ? "has more than one" : "has no", call.name,
             *call.file ? " in that file" : " (a static one is called as file.c:name)");
    report(line);
    _exit(1);
  }
  const long *a = call.arguments;
  long (*function)(long, long, long, long, long, long) =
      (long (*)(long, long, long, long, long, long))(uintptr_t)address;
  long result = function(a[0], a[1], a[2], a[3], a[4], a[5]);
  fflush(NULL);
  snprintf(line, sizeof line, "%d\n", (int)result);
  report(line);
  _exit(0);
}
