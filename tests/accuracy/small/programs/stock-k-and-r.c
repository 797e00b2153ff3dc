// Old-style definitions, a table that is grown by hand.
// load: rdstock
// must: item
// flags: -std=gnu89
#include <stdio.h>
#include <stdlib.h>
struct item { int code; int count; long price; };
struct item *stock;
int nstock, maxstock;
static additem(code, count, price) int code, count; long price; {
  if (nstock == maxstock) {
    maxstock = maxstock ? maxstock * 2 : 16;
    stock = (struct item *)realloc((char *)stock, maxstock * sizeof(struct item));
  }
  stock[nstock].code = code;
  stock[nstock].count = count;
  stock[nstock].price = price;
  nstock++;
}
rdstock(f) FILE *f; {
  int code, count; long price;
  while (fscanf(f, "%d %d %ld", &code, &count, &price) == 3)
    additem(code, count, price);
  return nstock;
}
