// A library opens the file, and its list is empty when the first item comes.
// Wrong: 'server' missed.
// RUN: %scan --format=json --load load %s -- -std=c99 | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct _GSList GSList;
GSList *g_slist_append(GSList *list, void *data);
FILE *g_fopen(const char *path, const char *mode);
void *g_malloc_n(unsigned long count, unsigned long size);
char *g_strdup(const char *text);

struct server { // CHECK: server [[@LINE]]
  char *host;
};
GSList *servers;

static GSList *begin(void *first) { return g_slist_append(NULL, first); }

void load(const char *path) {
  char line[100];
  FILE *f = g_fopen(path, "r");
  while (fgets(line, sizeof line, f)) {
    struct server *made = g_malloc_n(1, sizeof(struct server));
    made->host = g_strdup(line);
    servers = begin(made);
  }
  fclose(f);
}
