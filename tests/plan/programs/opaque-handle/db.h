struct db;
struct note {
  int id;
  char *text;
  struct note *next;
};
struct db *db_open(void);
int db_load(struct db *, const char *);
int db_save(struct db *, const char *);
int db_add(struct db *, const char *);
struct note *db_find(struct db *, int);
int db_rm(struct db *, int);
int db_count(const struct db *);
