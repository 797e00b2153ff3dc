// What functions of the C library write beyond where their arguments lead at once, and when they fail: all is noted.
// RUN: %run %s -w | FileCheck %s
// CHECK-NOT: failed
// CHECK-COUNT-5: 0 faults
#define _GNU_SOURCE
#include "recorder.h"

#include <getopt.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wchar.h>

static char *text; // 4096 bytes in the range

static void check(int right, const char *what) {
  if (!right)
    printf("%s: failed\n", what);
  if (recorder_commit())
    printf("in %s\n", what);
}

static void messages(void) {
  int one = 1, to = socket(AF_INET, SOCK_DGRAM, 0), from = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof name;
  setsockopt(to, IPPROTO_IP, IP_PKTINFO, &one, sizeof one);
  bind(to, (struct sockaddr *)&name, sizeof name);
  getsockname(to, (struct sockaddr *)&name, &length);
  struct iovec parts[2] = {{text, 8}, {text + 100, 8}};
  struct mmsghdr all[2];
  for (int i = 0; i < 2; i++) {
    sendto(from, "some", 5, 0, (struct sockaddr *)&name, sizeof name);
    all[i].msg_hdr = (struct msghdr){text + 200 + 100 * i, sizeof name, &parts[i], 1,
                                     text + 400 + 100 * i, 64,          0};
  }
  check(recvmmsg(to, all, 2, 0, NULL) == 2 && text[200] && text[500], "recvmmsg");
  close(to), close(from);
}

static int vprint(char *to, size_t size, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int made = vsnprintf(to, size, format, list);
  va_end(list);
  return made;
}

static void failing(void) {
  wchar_t foreign[] = {0x20ac, 0};
  check(snprintf(text, 64, "hello %d %ls", 4, foreign) < 0 && text[0], "snprintf");
  check(sprintf(text + 1000, "hello %d %ls", 4, foreign) < 0 && text[1000], "sprintf");
  check(vprint(text + 2000, 64, "hello %d %ls", 4, foreign) < 0 && text[2000], "vsnprintf");
}

static void options(void) {
  int *flags = (int *)text;
  struct option all[] = {{"quiet", no_argument, &flags[0], 1},
                         {"name", required_argument, NULL, 'n'},
                         {"verbose", no_argument, &flags[2], 5},
                         {0}};
  char *arguments[] = {"program", "--verbose", NULL};
  optind = 1;
  check(getopt_long(2, arguments, "", all, NULL) == 0 && flags[2] == 5, "getopt_long");
}

// The state is 8 to 256 bytes, what kind it is lies before it, of the one that was, too.
static void numbers(void) {
  struct random_data *data = (struct random_data *)text;
  char *first = text + 104, *second = text + 504;
  for (size_t size = 8; size <= 256; size *= 2) {
    memset(text, 0, 1000);
    recorder_commit();
    check(!initstate_r(1, first, size, data), "initstate_r");
    for (int i = 0; i < 70; i++) {
      random_r(data, (int *)(text + 1000));
      check(1, "random_r");
    }
    check(!srandom_r(7, data), "srandom_r");
    random_r(data, (int *)(text + 1000));
    check(!initstate_r(2, second, size, data), "initstate_r after another");
    random_r(data, (int *)(text + 1000));
    recorder_commit();
    check(!setstate_r(first, data), "setstate_r");
  }
}

int main(void) {
  text = recorder_map(4096);
  messages();
  failing();
  options();
  numbers();
  return recorder_finish();
}
