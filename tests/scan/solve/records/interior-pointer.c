// A pointer to a field is all that the program keeps of an object.
// FINDINGS: "&node->score stored as a value: interior pointers belong to their container".
// Wrong: 'node' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct node { // CHECK: node [[@LINE]]
  char *member;
  int level;
  double score;
};
static double *scores[1024];

static struct node *insert(double score, char *member) {
  struct node *n = malloc(sizeof(*n));
  n->score = score;
  n->member = member;
  n->level = 1;
  return n;
}

int load(const char *path) {
  double score;
  int i = 0;
  FILE *f = fopen(path, "rb");
  while (fread(&score, sizeof score, 1, f) == 1) {
    struct node *n = insert(score, NULL);
    scores[i++ % 1024] = &n->score;
  }
  fclose(f);
  return 0;
}
