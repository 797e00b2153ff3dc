// The library of a declared XML parser calls start, end and text.
// load: load_feeds
// must: feed
// either: ctx
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct XML_ParserStruct *XML_Parser;
XML_Parser XML_ParserCreate(const char *);
void XML_SetUserData(XML_Parser, void *);
void XML_SetElementHandler(XML_Parser, void (*)(void *, const char *, const char **), void (*)(void *, const char *));
void XML_SetCharacterDataHandler(XML_Parser, void (*)(void *, const char *, int));
int XML_Parse(XML_Parser, const char *, int, int);
void XML_ParserFree(XML_Parser);
struct feed { char *url; char *title; struct feed *next; };
struct ctx { struct feed *all; int in_title; };
static void start(void *u, const char *el, const char **at) {
  struct ctx *c = u;
  if (!strcmp(el, "feed")) {
    struct feed *f = calloc(1, sizeof *f);
    f->url = strdup(at[1]);
    f->next = c->all;
    c->all = f;
  }
  c->in_title = !strcmp(el, "title");
}
static void end(void *u, const char *el) { (void)el; ((struct ctx *)u)->in_title = 0; }
static void chars(void *u, const char *s, int n) {
  struct ctx *c = u;
  if (c->in_title && c->all)
    c->all->title = strndup(s, n);
}
static struct ctx feeds;
int load_feeds(const char *path) {
  char buf[4096];
  size_t n;
  FILE *f = fopen(path, "r");
  XML_Parser p = XML_ParserCreate(NULL);
  XML_SetUserData(p, &feeds);
  XML_SetElementHandler(p, start, end);
  XML_SetCharacterDataHandler(p, chars);
  while ((n = fread(buf, 1, sizeof buf, f)) > 0)
    XML_Parse(p, buf, (int)n, 0);
  XML_Parse(p, "", 0, 1);
  XML_ParserFree(p);
  return fclose(f);
}
