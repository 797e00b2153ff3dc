/* abi_numbered.h: which names of the Itanium C++ ABI tell things apart by numbers of the compiler
 * alone. Another build counts anew, so they name nothing that lasts.
 *
 * Lambdas and types without a name are counted, and so is what belongs to them. Namesakes in one
 * function have a discriminator behind the name from the second on (f()::x, f()::x_0); so have
 * several temporaries of one reference. Where one stands within a name the whole counts as counted.
 * Brackets are read, and what has digits; the rest is passed over. What is not understood counts.
 */
#ifndef NVMOVE_ABI_NUMBERED_H
#define NVMOVE_ABI_NUMBERED_H

#include <string.h>

struct nvm_numbered {
  size_t length; /* of the name without the discriminator at its end */
  int is_counted;
};

struct nvm_mangled {
  const char *at, *end;
  const char *start; /* of a function's own name, which may be an operator's */
  char open[64];     /* the letters of brackets; E ends each */
  int depth;
  int is_counted, is_odd;
};

static inline int nvm_mangled_is(const struct nvm_mangled *m, const char *set) {
  return m->at < m->end && *m->at && strchr(set, *m->at) != NULL;
}

static inline char nvm_mangled_next(const struct nvm_mangled *m, int ahead) {
  return m->end - m->at > ahead ? m->at[ahead] : 0;
}

static inline char nvm_mangled_top(const struct nvm_mangled *m) {
  return (char)(m->depth ? m->open[m->depth - 1] : 0);
}

static inline void nvm_mangled_open(struct nvm_mangled *m, char letter, int width) {
  if (m->depth == (int)sizeof m->open)
    m->is_odd = 1;
  else
    m->open[m->depth++] = letter;
  m->at += width;
}

static inline void nvm_mangled_skip(struct nvm_mangled *m, const char *set) {
  while (nvm_mangled_is(m, set))
    m->at++;
}

#define NVM_MANGLED_DIGITS "0123456789"
#define NVM_MANGLED_SEQUENCE NVM_MANGLED_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* A length and a name of so many bytes, perhaps one that the compiler has made up. */
static inline void nvm_mangled_name(struct nvm_mangled *m) {
  long length = 0;
  for (; nvm_mangled_is(m, NVM_MANGLED_DIGITS) && length < 1 << 20; m->at++)
    length = 10 * length + (*m->at - '0');
  if (length > m->end - m->at) {
    m->is_odd = 1;
    length = m->end - m->at;
  }
  m->is_counted |= (length > 2 && memcmp(m->at, "$_", 2) == 0) ||
                   (length > 6 && memcmp(m->at, "._anon", 6) == 0);
  m->at += length;
}

/* Behind the E of a function whose local things follow. */
static inline void nvm_mangled_local(struct nvm_mangled *m) {
  m->is_counted |= m->depth && nvm_mangled_top(m) != 'Z'; /* part of another name */
  m->is_counted |= nvm_mangled_is(m, "Nd"); /* a member of a local class; a default argument */
}

static inline void nvm_mangled_close(struct nvm_mangled *m) {
  char closed = nvm_mangled_top(m);
  m->at++;
  m->is_odd |= !m->depth;
  m->depth -= m->depth > 0;
  if (closed == 'Z')
    nvm_mangled_local(m);
  if (nvm_mangled_top(m) == 'L') /* its type; the value follows */
    nvm_mangled_skip(m, "n" NVM_MANGLED_DIGITS "abcdef");
}

/* A literal: type, value, E; or the mark of what only its file sees. */
static inline void nvm_mangled_literal(struct nvm_mangled *m) {
  char top = nvm_mangled_top(m), next = nvm_mangled_next(m, 1);
  if (top != 'I' && top != 'J' && top != 'X') {
    m->at++;
    return;
  }
  nvm_mangled_open(m, 'L', 1);
  if (next == '_' && nvm_mangled_next(m, 1) == 'Z')
    m->start = m->at += 2;
  else if (next >= '0' && next <= '9')
    nvm_mangled_name(m);
  else if (next >= 'a' && next <= 'z')
    m->at++;
  else
    return; /* a type in brackets */
  if (m->start != m->at)
    nvm_mangled_skip(m, "n" NVM_MANGLED_DIGITS "abcdef");
}

/* What is no name, bracket or literal, and may have digits. */
static inline void nvm_mangled_part(struct nvm_mangled *m) {
  char letter = *m->at, next = nvm_mangled_next(m, 1);
  m->at++;
  if (letter == 'U' && (next == 'l' || next == 't')) {
    m->is_counted = 1;
    m->at = m->end;
  } else if ((letter == 'S' || letter == 'T') && next && strchr(NVM_MANGLED_SEQUENCE "_", next) &&
             !(letter == 'T' && strchr("VTIS", next))) {
    nvm_mangled_skip(m, NVM_MANGLED_SEQUENCE);
    m->at += nvm_mangled_is(m, "_");
  } else if ((letter == 'S' || letter == 'C') && next) {
    m->at++;
  } else if (letter == 'D' && next && strchr(NVM_MANGLED_DIGITS "otTv", next)) {
    m->at++;
    if (next == 't' || next == 'T')
      nvm_mangled_open(m, 'D', 0);
    else if (next == 'v')
      nvm_mangled_skip(m, NVM_MANGLED_DIGITS "_");
  } else if (letter == 'A' || letter == 'f') {
    nvm_mangled_skip(m, "Lp" NVM_MANGLED_DIGITS);
    m->at += nvm_mangled_is(m, "_");
  }
}

static inline void nvm_mangled_step(struct nvm_mangled *m) {
  int names = nvm_mangled_top(m) == 'N' || m->at == m->start;
  if (names && *m->at >= 'a' && *m->at <= 'z') /* an operator: `ls`, `aS` */
    m->at += m->end - m->at > 1 ? 2 : 1;
  else if (nvm_mangled_is(m, "E"))
    nvm_mangled_close(m);
  else if (nvm_mangled_is(m, "NZIJFX")) {
    m->is_counted |= *m->at == 'Z' && m->depth && nvm_mangled_top(m) != 'Z';
    nvm_mangled_open(m, *m->at, 1);
    if (m->open[m->depth - 1] == 'Z')
      m->start = m->at;
  } else if (nvm_mangled_is(m, "L"))
    nvm_mangled_literal(m);
  else if (nvm_mangled_is(m, NVM_MANGLED_DIGITS))
    nvm_mangled_name(m);
  else
    nvm_mangled_part(m);
}

/* Bytes of the discriminator that the name ends with here; 0: it does not. */
static inline size_t nvm_mangled_last(const struct nvm_mangled *m, int is_temporary) {
  size_t left = (size_t)(m->end - m->at), digits = strspn(m->at + 1, "_" NVM_MANGLED_DIGITS);
  if (is_temporary)
    return left <= strspn(m->at, NVM_MANGLED_SEQUENCE "_") ? left : 0;
  return *m->at == '_' && left > 1 && digits >= left - 1 ? left : 0;
}

/* Behind _Z or _ZTV and the like; `is_temporary`: behind _ZGR. */
static inline struct nvm_numbered nvm_mangled_read(const char *name, struct nvm_mangled *m,
                                                   int is_temporary) {
  struct nvm_numbered read = {(size_t)(m->end - name), 0};
  while (m->at < m->end && !m->is_counted && !m->is_odd) {
    size_t last = m->depth ? 0 : nvm_mangled_last(m, is_temporary && m->at > name + 4);
    read.length -= last;
    m->at += last;
    if (last)
      break;
    m->is_counted |=
        *m->at == '_' && nvm_mangled_next(m, 1) >= '0' && nvm_mangled_next(m, 1) <= '9';
    nvm_mangled_step(m);
  }
  read.is_counted = m->is_counted || m->is_odd || m->depth;
  return read;
}

/* Whether it has letters of what is counted; what has none is not read. */
static inline int nvm_mangled_may_count(const char *name, size_t length) {
  int may = memcmp(name, "GR", 2) == 0;
  for (size_t i = 0; i + 1 < length; i++)
    may |= name[i] == 'Z' || (name[i] == 'U' && strchr("lt", name[i + 1])) ||
           memcmp(name + i, "$_", 2) == 0 || memcmp(name + i, "._", 2) == 0;
  return may;
}

/* Of the first `length` bytes of a symbol's name. */
static inline struct nvm_numbered nvm_numbered_of(const char *name, size_t length) {
  struct nvm_numbered whole = {length, 0};
  if (length < 4 || memcmp(name, "_Z", 2) != 0 || !nvm_mangled_may_count(name + 2, length - 2))
    return whole;
  struct nvm_mangled m = {name + 2, name + length, name + 2, {0}, 0, 0, 0};
  int is_special = nvm_mangled_is(&m, "TG");
  int is_temporary = memcmp(m.at, "GR", 2) == 0;
  m.at += is_special ? 2 : 0;
  if (m.at[-1] == 'h' || m.at[-1] == 'v' || m.at[-1] == 'c') /* a thunk: by how much */
    nvm_mangled_skip(&m, is_special ? "hvn_" NVM_MANGLED_DIGITS : "");
  m.start = m.at;
  return nvm_mangled_read(name, &m, is_temporary);
}

#endif
