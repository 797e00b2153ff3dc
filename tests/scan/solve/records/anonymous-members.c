// Anonymous and unnamed nested structs and unions.
// FINDINGS: "anonymous structs/unions belong to their parent".
// Wrong: '' or '(anonymous)' reported; 'shape' missed since only the nested parts are assigned.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct shape { // CHECK: shape [[@LINE]]
  int kind;
  union {
    struct {
      int radius;
    };
    struct {
      int width, height;
    } box;
  };
  struct {
    unsigned char red, green, blue;
  } color;
};
typedef struct { // CHECK: drawing [[@LINE]]
  struct shape *shapes[32];
  int count;
} drawing;
static drawing *current;

int load(const char *path) {
  int kind;
  FILE *f = fopen(path, "rb");
  current = calloc(1, sizeof(drawing));
  while (fread(&kind, sizeof kind, 1, f) == 1) {
    struct shape *s = malloc(sizeof *s);
    s->kind = kind;
    if (kind == 0)
      fread(&s->radius, sizeof s->radius, 1, f);
    else
      fread(&s->box, sizeof s->box, 1, f);
    fread(&s->color, sizeof s->color, 1, f);
    current->shapes[current->count++] = s;
  }
  fclose(f);
  return 0;
}
