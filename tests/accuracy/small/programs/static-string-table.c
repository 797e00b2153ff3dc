// A counter and an array of strings in one static record.
// load: load_motd
// must: motd
#include <stdio.h>
#include <string.h>
struct motd { int lines; char *line[32]; };
static struct motd motd;
void load_motd(FILE *f) {
  char buf[100];
  while (motd.lines < 32 && fgets(buf, sizeof buf, f))
    motd.line[motd.lines++] = strdup(buf);
}
