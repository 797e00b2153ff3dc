// Fixed tables, filled by pointers that step through them, in the old way.
// load: getscores
// must: score course
#include <stdio.h>
#include <string.h>
#define NSCORES 50
#define NCOURSES 18
struct score { char who[12]; int strokes; long when; } scores[NSCORES];
struct course { int par, yards; char name[20]; } courses[NCOURSES];
int nscores;
static FILE *fp;
static int getline_(char *buf) {
  if (fgets(buf, 100, fp) == NULL)
    return 0;
  buf[strlen(buf) - 1] = '\0';
  return 1;
}
int getscores(char *dir) {
  char buf[100], path[200];
  register struct score *sp;
  register struct course *cp;
  sprintf(path, "%s/courses", dir);
  if ((fp = fopen(path, "r")) == NULL)
    return -1;
  for (cp = courses; cp < &courses[NCOURSES] && getline_(buf); cp++)
    sscanf(buf, "%d %d %19s", &cp->par, &cp->yards, cp->name);
  fclose(fp);
  sprintf(path, "%s/scores", dir);
  if ((fp = fopen(path, "r")) == NULL)
    return -1;
  sp = scores;
  while (getline_(buf) && sp < scores + NSCORES) {
    if (sscanf(buf, "%11s %d %ld", sp->who, &sp->strokes, &sp->when) != 3)
      continue;
    sp++;
  }
  nscores = sp - scores;
  fclose(fp);
  return nscores;
}
