// A small loop with two notes that a macro has put into a function many times, as bzip2's writer of
// bits: none of them is where the function spends its time.
// RUN: %cc -O2 -c %s -o %t.o
// RUN: clang -O2 -c %s -o %t.clang.o
// RUN: %python %inputs/text.py 1.90 %t.o %t.clang.o
struct writer {
  unsigned char *bytes;
  int count;
  unsigned bits;
  int live;
};

#define WRITE(how_many, value)                                                                     \
  {                                                                                                \
    while (w->live >= 8) {                                                                         \
      w->bytes[w->count] = (unsigned char)(w->bits >> 24);                                         \
      w->count++;                                                                                  \
      w->bits <<= 8;                                                                               \
      w->live -= 8;                                                                                \
    }                                                                                              \
    w->bits |= (value) << (32 - w->live - (how_many));                                             \
    w->live += (how_many);                                                                         \
  }
#define TIMES_4(at)                                                                                \
  WRITE(8, table[at]) WRITE(5, table[(at) + 1]) WRITE(3, table[(at) + 2]) WRITE(1, table[(at) + 3])
#define TIMES_16(at) TIMES_4(at) TIMES_4((at) + 4) TIMES_4((at) + 8) TIMES_4((at) + 12)

void write_table(struct writer *w, const unsigned *table) { TIMES_16(0) TIMES_16(16) }
