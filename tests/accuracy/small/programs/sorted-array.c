// Read, sort, remove doubles, keep.
// load: load_ports
// must: port
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { int number; char proto[8]; char name[32]; } port;
port *ports;
int n_ports;
static int by_number(const void *a, const void *b) { return ((const port *)a)->number - ((const port *)b)->number; }
int load_ports(void) {
  FILE *f = fopen("/etc/services", "r");
  port p;
  int room = 0, out = 0;
  if (!f)
    return 0;
  while (fscanf(f, "%31s %d/%7s%*[^\n]", p.name, &p.number, p.proto) == 3) {
    if (n_ports == room)
      ports = realloc(ports, (room += 100) * sizeof(port));
    ports[n_ports++] = p;
  }
  fclose(f);
  qsort(ports, n_ports, sizeof *ports, by_number);
  for (int i = 0; i < n_ports; i++)
    if (!i || ports[i].number != ports[out - 1].number)
      ports[out++] = ports[i];
  return n_ports = out;
}
