/* A lock on plain sockets (cc -O2 -static -o plain plain.c): see docs/own-programs.md. */
#include <netdb.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int dial(const char *variable) {
  char host[64], port[8];
  sscanf(getenv(variable), "redis://%63[^:]:%7s", host, port); struct hostent *found = gethostbyname(host);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(port))}; memcpy(&to.sin_addr, found->h_addr_list[0], 4);
  int s = socket(AF_INET, SOCK_STREAM, 0);
  return connect(s, (void *)&to, sizeof to) ? close(s), -1 : s;
}
static char answer[256]; static int server;
static char *ask(int s, int count, ...) { /* the first line of the answer, or the text behind it */
  char text[512]; int n = sprintf(text, "*%d\r\n", count); va_list words; va_start(words, count);
  for (char *word; count--; n += sprintf(text + n, "$%zu\r\n%s\r\n", strlen(word), word)) word = va_arg(words, char *);
  if (write(s, text, n) != n || (n = read(s, answer, sizeof answer - 1)) <= 0) {
    if (s != server) exit(1); /* only the servers of the lock may fail */
    close(s); server = dial("FENCEPOST_REDIS"); n = 0;
  }
  answer[n] = 0;
  return *answer == '$' && answer[1] != '-' ? strchr(answer, '\n') + 1 : answer;
}
int main(void) {
  int storage = dial("FENCEPOST_STORAGE"), judge = dial("FENCEPOST_JUDGE"); server = dial("FENCEPOST_REDIS");
  char *lock = getenv("FENCEPOST_LOCK"), owner[64], value[32]; signal(SIGPIPE, SIG_IGN);
  for (int cycle = 0; cycle < atoi(getenv("FENCEPOST_CYCLES")); cycle++) {
    sprintf(owner, "%s-%d-%d", getenv("FENCEPOST_PROCESS"), getpid(), cycle); ask(judge, 2, "ACQUIRING", "orders");
    while (*ask(server, 6, "SET", lock, owner, "NX", "PX", getenv("FENCEPOST_TTL_MS")) != '+') usleep(100000);
    int hold_ms = atoi(ask(judge, 2, "ACQUIRED", "orders") + 1);
    sprintf(value, "%d", atoi(ask(storage, 2, "GET", "orders")) + 1); usleep(hold_ms * 1000);
    ask(storage, 3, "SET", "orders", value); ask(judge, 2, "RELEASING", "orders");
    ask(server, 5, "EVAL", "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0", "1", lock, owner);
    if (strcmp(answer, ":1\r\n")) ask(judge, 2, *answer ? "LOST" : "UNKNOWN", "orders");
    ask(judge, 2, "RELEASED", "orders");
  }
}
