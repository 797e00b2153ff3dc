// Records of a global table whose only content from the file is text in character arrays.
// Rule 9: "so do tainted character arrays inside records".
// Wrong: 'player' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <string.h>

struct player { // CHECK: player [[@LINE]]
  char name[32];
  char guild[32];
};
static struct player players[64];

int load(const char *path) {
  char line[128];
  int i = 0;
  FILE *f = fopen(path, "r");
  while (i < 64 && fgets(line, sizeof line, f)) {
    char *comma = strchr(line, ',');
    if (!comma)
      continue;
    *comma++ = 0;
    strncpy(players[i].name, line, sizeof players[i].name - 1);
    strncpy(players[i].guild, comma, sizeof players[i].guild - 1);
    ++i;
  }
  fclose(f);
  return 0;
}
