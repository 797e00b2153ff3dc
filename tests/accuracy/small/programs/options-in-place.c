// A program's settings, one static record with many fields.
// load: read_rc
// must: settings
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct settings { int width, height, depth, port; char host[64], title[64]; };
static struct settings cfg = {80, 24, 8, 0, "", ""};
void read_rc(FILE *f) {
  char line[256], k[32], v[128];
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "%31[a-z]=%127[^\n]", k, v) != 2)
      continue;
    if (!strcmp(k, "width"))
      cfg.width = atoi(v);
    else if (!strcmp(k, "height"))
      cfg.height = atoi(v);
    else if (!strcmp(k, "depth"))
      cfg.depth = atoi(v);
    else if (!strcmp(k, "port"))
      cfg.port = atoi(v);
    else if (!strcmp(k, "host"))
      strncpy(cfg.host, v, 63);
    else if (!strcmp(k, "title"))
      strncpy(cfg.title, v, 63);
  }
}
