#ifndef A_H
#define A_H
struct city;
struct road {
  struct road *next;
  struct city *to;
  unsigned km;
};
struct city {
  struct city *next;
  char *name;
  struct road *roads;
  int id;
  const struct conf *conf;
  void *user;
};
struct conf {
  const char *file;
  int max_km;
  char *prefix;
};
extern struct conf conf;
extern int city_ids;
struct city *city(const char *, int);
void road(struct city *, struct city *, unsigned);
struct city *cities(void);
int n_cities(void);
void map_dump(void (*)(const char *));
#endif
