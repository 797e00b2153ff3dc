/* till.h: what the till keeps in its pool; the program and its checker share it. */
struct sale {
  struct sale *next;
  long cents;
};

struct till {
  struct sale *sales; /* the last one first */
  long total;         /* of all sales, in cents */
};
