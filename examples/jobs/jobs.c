/* jobs.c: a list of jobs that workers take and finish; commands on stdin, answers on stdout.
 *
 *   add TEXT          the job's number
 *   take WORKER       the oldest job that nobody has, and gives it to the worker
 *   done NUMBER       the job is gone
 *   list              all jobs, and who has them
 *
 * Workers live as long as the process; jobs live in a file, which is read at the start and written
 * at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX = 256 };

struct worker {
  char *name;
  int taken;
  struct worker *next;
};

struct job {
  int number;
  char *text;
  struct worker *by; /* who has it; null: nobody */
  struct job *next;
};

static struct worker *workers;
static struct job *jobs, **end = &jobs;
static int next_number = 1;

static struct worker *find_worker(const char *name) {
  struct worker *w = workers;
  while (w && strcmp(w->name, name))
    w = w->next;
  if (!w) {
    w = malloc(sizeof *w);
    *w = (struct worker){strdup(name), 0, workers};
    workers = w;
  }
  return w;
}

static struct job *add(int number, const char *text) {
  struct job *job = malloc(sizeof *job);
  *job = (struct job){number, strdup(text), NULL, NULL};
  *end = job;
  end = &job->next;
  if (next_number <= number)
    next_number = number + 1;
  return job;
}

static void take(const char *name) {
  for (struct job *job = jobs; job; job = job->next)
    if (!job->by) {
      job->by = find_worker(name);
      job->by->taken++;
      printf("%d %s\n", job->number, job->text);
      return;
    }
  puts("nothing to do");
}

static void finish(int number) {
  for (struct job **at = &jobs; *at; at = &(*at)->next)
    if ((*at)->number == number) {
      struct job *job = *at;
      *at = job->next;
      if (end == &job->next)
        end = at;
      free(job->text);
      free(job);
      puts("ok");
      return;
    }
  puts("no such job");
}

static void list(void) {
  for (struct job *job = jobs; job; job = job->next)
    printf("%d %s%s%s\n", job->number, job->text, job->by ? ", taken by " : "",
           job->by ? job->by->name : "");
}

static void load(void) {
  char text[LINE_MAX];
  int number;
  FILE *file = fopen("jobs.txt", "r");
  while (file && fscanf(file, "%d %255[^\n]", &number, text) == 2)
    add(number, text);
  if (file)
    fclose(file);
}

static void save(void) {
  FILE *file = fopen("jobs.txt", "w");
  for (struct job *job = jobs; file && job; job = job->next)
    fprintf(file, "%d %s\n", job->number, job->text);
  if (file)
    fclose(file);
}

static void answer(void) { fflush(stdout); }

static void command(char *line) {
  char *words = strchr(line, ' ');
  if (words)
    *words++ = 0;
  if (!strcmp(line, "add") && words)
    printf("%d\n", add(next_number, words)->number);
  else if (!strcmp(line, "take") && words)
    take(words);
  else if (!strcmp(line, "done") && words)
    finish(atoi(words));
  else if (!strcmp(line, "list"))
    list();
  else
    puts("add TEXT, take WORKER, done NUMBER or list");
  answer();
}

int main(void) {
  char line[LINE_MAX];
  load();
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    command(line);
  }
  save();
  return 0;
}
