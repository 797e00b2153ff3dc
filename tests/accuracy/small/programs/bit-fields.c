// Flags in bit-fields, packed from a number.
// load: load_acl
// must: ace
#include <stdio.h>
#include <stdlib.h>
struct ace { unsigned read : 1, write : 1, exec : 1, uid : 29; };
static struct ace *acl;
static unsigned n_acl;
void load_acl(FILE *f) {
  unsigned uid, mode;
  acl = calloc(256, sizeof(struct ace));
  while (n_acl < 256 && fscanf(f, "%u %o", &uid, &mode) == 2) {
    acl[n_acl].uid = uid;
    acl[n_acl].read = mode >> 2;
    acl[n_acl].write = mode >> 1;
    acl[n_acl].exec = mode;
    n_acl++;
  }
}
