/* A server on a socket of the file system, "./socket", that keeps texts by key; one request a connection:
 * set KEY TEXT, get KEY. With -DDAEMON it goes into the background. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTS 16
struct pair {
  struct pair *next;
  char *key, *text;
};
static struct pair *pairs[LISTS];

static struct pair **place(const char *key) {
  return &pairs[(unsigned char)key[0] % LISTS];
}

static void set(const char *key, const char *text) {
  struct pair *at = *place(key);
  while (at && strcmp(at->key, key))
    at = at->next;
  if (!at) {
    at = malloc(sizeof *at);
    at->key = strdup(key);
    at->next = *place(key);
    *place(key) = at;
  } else {
    free(at->text);
  }
  at->text = strdup(text);
}

static void load_pairs(void) {
  char key[32], text[64];
  FILE *file = fopen("pairs", "r");
  while (file && fscanf(file, "%31s %63s", key, text) == 2)
    set(key, text);
  if (file)
    fclose(file);
}

static void respond(int client, const char *text) { write(client, text, strlen(text)); }

static void serve(int client) {
  char line[200] = "", key[32], text[64];
  if (read(client, line, sizeof line - 1) <= 0)
    return;
  if (sscanf(line, "set %31s %63s", key, text) == 2) {
    set(key, text);
    respond(client, "ok\n");
  } else if (sscanf(line, "get %31s", key) == 1) {
    struct pair *at = *place(key);
    while (at && strcmp(at->key, key))
      at = at->next;
    respond(client, at ? at->text : "none");
    respond(client, "\n");
  }
}

int main(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
  unlink("socket");
  int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listening, (struct sockaddr *)&address, sizeof address) || listen(listening, 5))
    return 1;
#ifdef DAEMON
  daemon(1, 1);
#endif
  load_pairs();
  for (int client; (client = accept(listening, NULL, NULL)) >= 0; close(client))
    serve(client);
}
