// Lines of columns into an array of pointers.
// load: load_people
// must: human
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct human { char *name, *job; int age; };
struct human **people;
size_t people_n;
int load_people(const char *csv) {
  FILE *f = fopen(csv, "r");
  char *line = NULL;
  size_t cap = 0;
  if (!f)
    return -1;
  while (getline(&line, &cap, f) > 0) {
    char *save, *name = strtok_r(line, ",", &save), *job = strtok_r(NULL, ",", &save), *age = strtok_r(NULL, ",\n", &save);
    if (!age)
      continue;
    struct human *h = malloc(sizeof *h);
    h->name = strdup(name);
    h->job = strdup(job);
    h->age = atoi(age);
    people = reallocarray(people, people_n + 1, sizeof *people);
    people[people_n++] = h;
  }
  free(line);
  fclose(f);
  return 0;
}
