/* linked-list: strings at the head of a list (Breeze, Fig. 3), printed at the end.
 *
 * usage: linked-list COUNT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Node {
  struct Node *next;
  char data[32];
} Node;

static size_t length(const Node *head) {
  size_t count = 0;
  for (; head; head = head->next)
    count += !strcmp(head->data, "Hello world");
  return count;
}

int main(int argc, char **argv) {
  size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
  Node *head = NULL;
  for (size_t i = length(head); i < count; i++) {
    Node *t = malloc(sizeof(Node));
    if (t == NULL)
      break;
    t->next = head;
    strcpy(t->data, "Hello world");
    head = t;
    printf("%zu\n", i + 1);
    fflush(stdout);
  }
  printf("%zu nodes say hello\n", length(head));
  return 0;
}
