// What a program sees of the kernel, case by case: `kernel NAME` prints it, `kernel list` names the
// cases. Nothing that is printed may depend on how fast the machine is.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define P(...) (printf(__VA_ARGS__), fflush(stdout))
static const char *e(long r) { static char b[4][32]; static int i; i = (i + 1) % 4; if (r >= 0) snprintf(b[i], 32, "%ld", r); else snprintf(b[i], 32, "E%d", errno); return b[i]; }
static long ms(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000 + t.tv_nsec / 1000000; }
static void nap(int m) { struct timespec t = {m / 1000, m % 1000 * 1000000L}; nanosleep(&t, 0); }
static int listener(uint16_t *port) {
  int s = socket(AF_INET, SOCK_STREAM, 0); struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}; socklen_t n = sizeof a;
  bind(s, (void *)&a, n); listen(s, 8); getsockname(s, (void *)&a, &n); *port = ntohs(a.sin_port); return s;
}
static int dial(uint16_t port, int flags, int *result) {
  int s = socket(AF_INET, SOCK_STREAM | flags, 0); struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  *result = connect(s, (void *)&a, sizeof a); return s;
}
static void both(int *a, int *b) { uint16_t p; int r, l = listener(&p); *a = dial(p, 0, &r); *b = accept(l, 0, 0); close(l); }
static int ready(int fd, int events, int wait) { struct pollfd f = {fd, events, 0}; int n = poll(&f, 1, wait); return n < 0 ? -errno : f.revents; }
static void tcp_echo(void) { int a, b; char c[64]; both(&a, &b); P("%s\n", e(write(a, "hello", 5))); P("%s\n", e(read(b, c, 64))); write(b, c, 5); P("%s %.5s\n", e(read(a, c, 64)), c); }
static void tcp_partial_read(void) { int a, b; char c[64]; both(&a, &b); write(a, "abcdef", 6); P("%s ", e(read(b, c, 2))); P("%.2s ", c); P("%s ", e(read(b, c, 64))); P("%.4s\n", c); }
static void tcp_peek(void) { int a, b; char c[8]; both(&a, &b); write(a, "xy", 2); P("%s ", e(recv(b, c, 8, MSG_PEEK))); P("%s\n", e(recv(b, c, 8, 0))); P("%s\n", e(recv(b, c, 8, MSG_DONTWAIT))); }
static void tcp_waitall(void) { int a, b; char c[8]; both(&a, &b); write(a, "ab", 2); if (!fork()) { nap(30); write(a, "cd", 2); _exit(0); } P("%s %.4s\n", e(recv(b, c, 4, MSG_WAITALL)), c); wait(0); }
static void tcp_eof(void) { int a, b; char c[8]; both(&a, &b); write(a, "z", 1); close(a); P("%s ", e(read(b, c, 8))); P("%s ", e(read(b, c, 8))); P("%s\n", e(read(b, c, 8))); }
static void tcp_half_close(void) { int a, b; char c[8]; both(&a, &b); shutdown(a, SHUT_WR); P("%s ", e(read(b, c, 8))); P("%s ", e(write(b, "back", 4))); P("%s\n", e(read(a, c, 8))); signal(SIGPIPE, SIG_IGN); P("%s\n", e(write(a, "x", 1))); }
static void tcp_refused(void) { int r; uint16_t p; int l = listener(&p); close(l); dial(p, 0, &r); P("%s\n", e(r)); }
static void tcp_refused_nonblocking(void) { int r; uint16_t p; int l = listener(&p); close(l); int s = dial(p, SOCK_NONBLOCK, &r); int refused = errno == ECONNREFUSED; if (errno == EINPROGRESS) { ready(s, POLLOUT, 1000); int v; socklen_t n = 4; getsockopt(s, SOL_SOCKET, SO_ERROR, &v, &n); refused = v == ECONNREFUSED; } P("%d\n", refused); }
static void tcp_nonblocking_read(void) { int a, b; char c[8]; both(&a, &b); fcntl(b, F_SETFL, O_NONBLOCK); P("%s ", e(read(b, c, 8))); P("%d\n", fcntl(b, F_GETFL) & O_NONBLOCK ? 1 : 0); int on = 0; ioctl(b, FIONBIO, &on); P("%d\n", fcntl(b, F_GETFL) & O_NONBLOCK ? 1 : 0); }
static void tcp_fionread(void) { int a, b, n = -1; both(&a, &b); write(a, "12345", 5); ioctl(b, FIONREAD, &n); P("%d\n", n); }
static void tcp_vectors(void) { int a, b; char c[4] = "", d[8] = ""; both(&a, &b); struct iovec w[2] = {{"ab", 2}, {"cdef", 4}}, r[2] = {{c, 3}, {d, 8}}; P("%s ", e(writev(a, w, 2))); P("%s ", e(readv(b, r, 2))); P("%.3s %s\n", c, d); }
static void tcp_message(void) { int a, b; char c[8] = ""; both(&a, &b); struct iovec w = {"hi!", 3}, r = {c, 8}; struct msghdr m = {.msg_iov = &w, .msg_iovlen = 1}, n = {.msg_iov = &r, .msg_iovlen = 1}; P("%s ", e(sendmsg(a, &m, 0))); P("%s %s %d\n", e(recvmsg(b, &n, 0)), c, n.msg_flags); }
static void tcp_names(void) { int a, b; both(&a, &b); struct sockaddr_in x, y; socklen_t n = sizeof x; getsockname(a, (void *)&x, &n); n = sizeof y; getpeername(b, (void *)&y, &n); P("%d %d %s\n", x.sin_port == y.sin_port, n, inet_ntoa(y.sin_addr)); }
static void tcp_not_connected(void) { int s = socket(AF_INET, SOCK_STREAM, 0); char c; struct sockaddr_in a; socklen_t n = sizeof a; P("%s ", e(recv(s, &c, 1, 0))); P("%s ", e(getpeername(s, (void *)&a, &n))); P("%s\n", e(shutdown(s, SHUT_RDWR))); }
static void tcp_options(void) { int a, b, v = 1; socklen_t n = 4; both(&a, &b); P("%s ", e(setsockopt(a, IPPROTO_TCP, 1, &v, 4))); v = 9; getsockopt(a, SOL_SOCKET, SO_TYPE, &v, &n); P("%d ", v); getsockopt(a, SOL_SOCKET, SO_ERROR, &v, &n); P("%d\n", v); }
static void tcp_receive_timeout(void) { int a, b; char c; both(&a, &b); struct timeval t = {0, 50000}; setsockopt(b, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t); long s = ms(); P("%s ", e(read(b, &c, 1))); P("%d\n", ms() - s >= 49); }
static void tcp_accept_nonblocking(void) { uint16_t p; int l = listener(&p); fcntl(l, F_SETFL, O_NONBLOCK); P("%s\n", e(accept(l, 0, 0))); int r; dial(p, 0, &r); ready(l, POLLIN, 1000); int c = accept4(l, 0, 0, SOCK_NONBLOCK); P("%d %d\n", c >= 0, fcntl(c, F_GETFL) & O_NONBLOCK ? 1 : 0); }
static void tcp_poll_states(void) { int a, b; both(&a, &b); P("%x ", ready(b, POLLIN | POLLOUT, 0)); write(a, "x", 1); ready(b, POLLIN, 1000); P("%x ", ready(b, POLLIN | POLLOUT, 0)); shutdown(a, SHUT_WR); nap(10); P("%x ", ready(b, POLLIN | POLLOUT | POLLRDHUP, 0)); close(a); nap(10); P("%x\n", ready(b, POLLIN | POLLRDHUP, 0)); }
// Connections to another machine: the server of tests/alone/server.rs, real or simulated.
static int served(void) {
  const char *ip = getenv("SERVER_IP"), *port = getenv("SERVER_PORT"); int s = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port ? atoi(port) : 7000), .sin_addr.s_addr = inet_addr(ip ? ip : "10.0.0.3")};
  if (connect(s, (void *)&a, sizeof a)) P("no server: %s\n", e(-1)); return s;
}
static void says(int s, const char *text) { P("%s ", e(write(s, text, strlen(text)))); }
static void to_the_end(int s) { char c[64]; int n = 0, r; while ((r = read(s, c + n, sizeof c - n)) > 0) n += r; for (int i = 0; i < n; i++) P("%c", c[i] == '\n' ? ' ' : c[i]); P("%s ", e(r)); }
static int all_events(int s, int wait) { return ready(s, POLLIN | POLLOUT | POLLRDHUP, wait); }
static void server_answers(void) { int s = served(); char c[8] = ""; says(s, "echo one\n"); P("%s %.3s ", e(recv(s, c, 4, MSG_WAITALL)), c); says(s, "close\n"); to_the_end(s); P("%x\n", all_events(s, 0)); }
static void server_half_close(void) { int s = served(); says(s, "echo a\necho b\n"); P("%s ", e(shutdown(s, SHUT_WR))); to_the_end(s); P("%x ", all_events(s, 0)); signal(SIGPIPE, SIG_IGN); P("%s\n", e(write(s, "x", 1))); }
static void server_half_close_waits(void) { int s = served(); says(s, "stay\n"); P("%s %s ", e(shutdown(s, SHUT_WR)), e(shutdown(s, SHUT_WR))); P("%x ", all_events(s, 0)); P("%x ", ready(s, POLLIN, 5)); ready(s, POLLIN, 5000); to_the_end(s); P("%x\n", all_events(s, 0)); }
static void server_half_close_edge(void) { int s = served(), ep = epoll_create1(0); struct epoll_event x = {EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, {0}}; says(s, "stay\n"); epoll_ctl(ep, EPOLL_CTL_ADD, s, &x); int n = epoll_wait(ep, &x, 1, 0); P("%d %x ", n, x.events); P("%d ", epoll_wait(ep, &x, 1, 0)); shutdown(s, SHUT_WR); while (epoll_wait(ep, &x, 1, 5000) == 1 && !(x.events & EPOLLHUP)); P("%x ", x.events); to_the_end(s); P("\n"); }
static void server_half_close_of_a_copy(void) { int s = served(); says(s, "echo c\n"); if (!fork()) { shutdown(s, SHUT_WR); _exit(0); } wait(0); signal(SIGPIPE, SIG_IGN); P("%s ", e(write(s, "x", 1))); to_the_end(s); P("\n"); }
static void server_shut_both(void) { int s = served(); says(s, "stay\n"); char c; P("%s ", e(shutdown(s, SHUT_RDWR))); P("%s %x ", e(read(s, &c, 1)), all_events(s, 0)); signal(SIGPIPE, SIG_IGN); P("%s\n", e(write(s, "x", 1))); }
static void server_shut_one_by_one(void) { int s = served(); says(s, "stay\n"); char c; P("%s ", e(shutdown(s, SHUT_RD))); P("%s %x ", e(read(s, &c, 1)), all_events(s, 0)); P("%s ", e(shutdown(s, SHUT_WR))); P("%s %x\n", e(read(s, &c, 1)), all_events(s, 0)); }
static void server_ends_first(void) { int s = served(); says(s, "close\n"); to_the_end(s); P("%x ", all_events(s, 0)); P("%s ", e(shutdown(s, SHUT_WR))); P("%x ", all_events(s, 0)); to_the_end(s); signal(SIGPIPE, SIG_IGN); P("%s\n", e(write(s, "x", 1))); }
static void tcp_sigpipe(void) { int a, b; both(&a, &b); shutdown(a, SHUT_WR); write(a, "x", 1); P("not reached\n"); }
static void tcp_nosignal(void) { int a, b; both(&a, &b); shutdown(a, SHUT_WR); P("%s\n", e(send(a, "x", 1, MSG_NOSIGNAL))); }
static void fresh_socket_poll(void) { int s = socket(AF_INET, SOCK_STREAM, 0); P("%x\n", ready(s, POLLIN | POLLOUT, 0)); }
static void pipe_order(void) { int p[2]; char c[8] = ""; pipe(p); write(p[1], "ab", 2); write(p[1], "cd", 2); P("%s %s\n", e(read(p[0], c, 8)), c); }
static void pipe_eof(void) { int p[2]; char c; pipe(p); close(p[1]); P("%s %x\n", e(read(p[0], &c, 1)), ready(p[0], POLLIN, 0)); }
static void pipe_broken(void) { int p[2]; pipe(p); signal(SIGPIPE, SIG_IGN); close(p[0]); P("%s %x\n", e(write(p[1], "x", 1)), ready(p[1], POLLOUT, 0)); }
static void pipe_sigpipe(void) { int p[2]; pipe(p); close(p[0]); write(p[1], "x", 1); P("not reached\n"); }
static void pipe_nonblocking(void) { int p[2]; char c; pipe2(p, O_NONBLOCK); P("%s ", e(read(p[0], &c, 1))); long n = 0, r; char k[4096] = ""; while ((r = write(p[1], k, 4096)) > 0) n += r; P("%ld %s\n", n, e(r)); }
static void pipe_wrong_end(void) { int p[2]; char c; pipe(p); P("%s ", e(read(p[1], &c, 1))); P("%s\n", e(write(p[0], "x", 1))); }
static void pipe_kind(void) { int p[2]; struct stat s; pipe(p); fstat(p[0], &s); P("%d\n", S_ISFIFO(s.st_mode)); s.st_mode = 0; fstat(socket(AF_INET, SOCK_STREAM, 0), &s); P("%d\n", S_ISSOCK(s.st_mode)); }
static void pair_both_ways(void) { int s[2]; char c[8] = ""; socketpair(AF_UNIX, SOCK_STREAM, 0, s); write(s[0], "one", 3); write(s[1], "two", 3); P("%s ", e(read(s[1], c, 8))); P("%s ", c); P("%s ", e(read(s[0], c, 8))); P("%s\n", c); close(s[0]); P("%s %x\n", e(read(s[1], c, 8)), ready(s[1], POLLIN | POLLRDHUP, 0)); }
static void pair_shutdown(void) { int s[2]; char c; socketpair(AF_UNIX, SOCK_STREAM, 0, s); shutdown(s[0], SHUT_WR); P("%s\n", e(read(s[1], &c, 1))); }
static void event_counts(void) { int f = eventfd(3, EFD_NONBLOCK); uint64_t v = 0; P("%s ", e(read(f, &v, 8))); P("%ld ", (long)v); P("%s ", e(read(f, &v, 8))); v = 5; P("%s ", e(write(f, &v, 8))); v = 2; write(f, &v, 8); read(f, &v, 8); P("%ld\n", (long)v); P("%s\n", e(write(f, &v, 4))); }
static void event_semaphore(void) { int f = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK); uint64_t v; for (int i = 0; i < 3; i++) { P("%s ", e(read(f, &v, 8))); P("%ld\n", (long)v); } }
static void poll_timeout(void) { int p[2]; pipe(p); long s = ms(); struct pollfd f = {p[0], POLLIN, 0}; P("%s ", e(poll(&f, 1, 40))); P("%d\n", ms() - s >= 40); }
static void poll_invalid(void) { struct pollfd f[2] = {{777, POLLIN, 0}, {-1, POLLIN, 9}}; P("%s ", e(poll(f, 2, 0))); P("%x %x\n", f[0].revents, f[1].revents); }
static void poll_none(void) { long s = ms(); P("%s ", e(poll(0, 0, 20))); P("%d\n", ms() - s >= 20); }
static void poll_regular_file(void) { int f = open("/etc/passwd", O_RDONLY); P("%x\n", ready(f, POLLIN | POLLOUT, 0)); }
static void ppoll_spans(void) { int p[2]; pipe(p); struct timespec t = {0, 10000000}; struct pollfd f = {p[0], POLLIN, 0}; P("%s ", e(ppoll(&f, 1, &t, 0))); write(p[1], "x", 1); P("%s %x\n", e(ppoll(&f, 1, 0, 0)), f.revents); }
static void select_sets(void) { int p[2], q[2]; pipe(p); pipe(q); write(q[1], "x", 1); fd_set r, w; FD_ZERO(&r); FD_ZERO(&w); FD_SET(p[0], &r); FD_SET(q[0], &r); FD_SET(p[1], &w); P("%s ", e(select(1000, &r, &w, 0, 0))); P("%d %d %d\n", FD_ISSET(p[0], &r), FD_ISSET(q[0], &r), FD_ISSET(p[1], &w)); }
static void select_timeout(void) { int p[2]; pipe(p); fd_set r; FD_ZERO(&r); FD_SET(p[0], &r); struct timeval t = {0, 30000}; long s = ms(); P("%s ", e(select(p[0] + 1, &r, 0, 0, &t))); P("%d %d\n", FD_ISSET(p[0], &r), ms() - s >= 30); }
static void select_bad(void) { fd_set r; FD_ZERO(&r); FD_SET(60, &r); P("%s\n", e(select(61, &r, 0, 0, 0))); }
static void select_bad_pointer(void) { fd_set *r = (void *)-4096; P("%s ", e(select(10, r, 0, 0, 0))); P("%s ", e(select(0, 0, r, 0, &(struct timeval){0, 0}))); P("%s\n", e(select(-1, r, 0, 0, 0))); }
static void poll_bad_pointer(void) { P("%s\n", e(poll((void *)-4096, 2, 0))); }
static int watch(int ep, int fd, uint32_t ev) { struct epoll_event x = {.events = ev, .data.u64 = 42}; return epoll_ctl(ep, EPOLL_CTL_ADD, fd, &x); }
static int waits(int ep, int m) { struct epoll_event x[4] = {0}; int n = epoll_wait(ep, x, 4, m); return n <= 0 ? n : (int)x[0].events; }
static void epoll_level(void) { int p[2], ep = epoll_create1(0); pipe(p); watch(ep, p[0], EPOLLIN); P("%x ", waits(ep, 0)); write(p[1], "ab", 2); char c; P("%x %x ", waits(ep, 0), waits(ep, 0)); read(p[0], &c, 1); P("%x ", waits(ep, 0)); read(p[0], &c, 1); P("%x\n", waits(ep, 0)); }
static void epoll_edge(void) { int p[2], ep = epoll_create1(0); pipe(p); watch(ep, p[0], EPOLLIN | EPOLLET); write(p[1], "ab", 2); char c; P("%x ", waits(ep, 0)); P("%x ", waits(ep, 0)); read(p[0], &c, 1); P("%x ", waits(ep, 0)); write(p[1], "c", 1); P("%x ", waits(ep, 0)); P("%x\n", waits(ep, 0)); }
static void epoll_edge_socket(void) { int a, b, ep = epoll_create1(0); both(&a, &b); watch(ep, b, EPOLLIN | EPOLLET); write(a, "x", 1); ready(b, POLLIN, 1000); P("%x ", waits(ep, 100)); P("%x ", waits(ep, 0)); write(a, "y", 1); nap(10); P("%x ", waits(ep, 100)); P("%x\n", waits(ep, 0)); }
static void epoll_oneshot(void) { int p[2], ep = epoll_create1(0); pipe(p); watch(ep, p[0], EPOLLIN | EPOLLONESHOT); write(p[1], "a", 1); P("%x ", waits(ep, 0)); P("%x ", waits(ep, 0)); struct epoll_event x = {.events = EPOLLIN | EPOLLONESHOT}; epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &x); P("%x\n", waits(ep, 0)); }
static void epoll_errors(void) { int p[2], ep = epoll_create1(0); pipe(p); P("%s ", e(watch(ep, p[0], EPOLLIN))); P("%s ", e(watch(ep, p[0], EPOLLIN))); struct epoll_event x = {0}; P("%s ", e(epoll_ctl(ep, EPOLL_CTL_DEL, p[1], &x))); P("%s ", e(epoll_ctl(ep, EPOLL_CTL_MOD, p[1], &x))); P("%s ", e(watch(ep, open("/etc/passwd", O_RDONLY), EPOLLIN))); P("%s\n", e(epoll_wait(ep, &x, 0, 0))); }
static void epoll_closed(void) { int p[2], ep = epoll_create1(0); pipe(p); watch(ep, p[0], EPOLLIN); write(p[1], "x", 1); close(p[0]); P("%x\n", waits(ep, 0)); }
static void epoll_duplicate(void) { int p[2], ep = epoll_create1(0); pipe(p); int d = dup(p[0]); watch(ep, p[0], EPOLLIN); write(p[1], "x", 1); close(p[0]); P("%x ", waits(ep, 0)); close(d); P("%x\n", waits(ep, 0)); }
static void epoll_timeout(void) { int ep = epoll_create1(0); long s = ms(); P("%x ", waits(ep, 25)); P("%d\n", ms() - s >= 25); }
static void epoll_in_epoll(void) { int p[2], in = epoll_create1(0), out = epoll_create1(0); pipe(p); watch(in, p[0], EPOLLIN); watch(out, in, EPOLLIN); P("%x ", waits(out, 0)); write(p[1], "x", 1); P("%x\n", waits(out, 0)); }
static void timer_fires(void) { int f = timerfd_create(CLOCK_MONOTONIC, 0); struct itimerspec t = {.it_value = {0, 20000000}}; timerfd_settime(f, 0, &t, 0); uint64_t v; long s = ms(); P("%x ", ready(f, POLLIN, 0)); P("%s ", e(read(f, &v, 8))); P("%ld %d\n", (long)v, ms() - s >= 19); }
static void timer_interval(void) { int f = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK); struct itimerspec t = {.it_value = {0, 10000000}, .it_interval = {0, 10000000}}; timerfd_settime(f, 0, &t, 0); uint64_t v; P("%s ", e(read(f, &v, 8))); ready(f, POLLIN, 1000); P("%s ", e(read(f, &v, 8))); P("%d ", v >= 1); nap(55); read(f, &v, 8); P("%d\n", v >= 4); }
static void timer_disarm(void) { int f = timerfd_create(CLOCK_MONOTONIC, 0); struct itimerspec t = {.it_value = {5, 0}}, o; timerfd_settime(f, 0, &t, 0); timerfd_gettime(f, &o); P("%d ", (int)(o.it_value.tv_sec == 4)); memset(&t, 0, sizeof t); timerfd_settime(f, 0, &t, &o); P("%d ", (int)o.it_value.tv_sec); P("%x\n", ready(f, POLLIN, 20)); }
static void timer_epoll(void) { int ep = epoll_create1(0), f = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK); watch(ep, f, EPOLLIN); struct itimerspec t = {.it_value = {0, 15000000}}; timerfd_settime(f, 0, &t, 0); P("%x\n", waits(ep, -1)); }
static void sleep_spans(void) { long s = ms(); nap(30); P("%d ", ms() - s >= 30 && ms() - s < 1000); struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); t.tv_nsec += 30000000; if (t.tv_nsec >= 1000000000) { t.tv_sec++; t.tv_nsec -= 1000000000; } s = ms(); P("%d ", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0)); P("%d\n", ms() - s >= 29); }
static void sleep_invalid(void) { struct timespec t = {0, 2000000000}; P("%s ", e(nanosleep(&t, 0))); t.tv_sec = -1; t.tv_nsec = 0; P("%s\n", e(nanosleep(&t, 0))); }
static volatile int hits; static void hit(int s) { (void)s; hits++; }
static void on(int sig, int flags) { struct sigaction a = {.sa_handler = hit, .sa_flags = flags}; sigaction(sig, &a, 0); }
static void alarm_interrupts_sleep(void) { on(SIGALRM, 0); struct itimerval t = {.it_value = {0, 20000}}; setitimer(ITIMER_REAL, &t, 0); struct timespec w = {10, 0}, left = {0}; P("%s ", e(nanosleep(&w, &left))); P("%d %d\n", hits, left.tv_sec == 9); }
static void alarm_interrupts_poll(void) { on(SIGALRM, SA_RESTART); struct itimerval t = {.it_value = {0, 20000}}; setitimer(ITIMER_REAL, &t, 0); int p[2]; pipe(p); P("%d %d\n", ready(p[0], POLLIN, 5000), hits); }
static void alarm_interrupts_read(void) { on(SIGALRM, 0); struct itimerval t = {.it_value = {0, 20000}}; setitimer(ITIMER_REAL, &t, 0); int p[2]; char c; pipe(p); P("%s %d\n", e(read(p[0], &c, 1)), hits); }
static void alarm_restarts_read(void) { on(SIGALRM, SA_RESTART); int p[2]; char c; pipe(p); if (!fork()) { nap(60); write(p[1], "q", 1); _exit(0); } struct itimerval t = {.it_value = {0, 20000}}; setitimer(ITIMER_REAL, &t, 0); P("%s ", e(read(p[0], &c, 1))); P("%d\n", hits); while (wait(0) < 0 && errno == EINTR); }
static void raise_handled(void) { on(SIGUSR1, 0); raise(SIGUSR1); P("%d\n", hits); }
static void raise_blocked(void) { on(SIGUSR1, 0); sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); sigprocmask(SIG_BLOCK, &s, 0); raise(SIGUSR1); P("%d ", hits); sigprocmask(SIG_UNBLOCK, &s, 0); P("%d\n", hits); }
static void raise_fatal(void) { P("here\n"); raise(SIGTERM); P("not reached\n"); }
static void suspend_waits(void) { on(SIGALRM, 0); sigset_t s, none; sigemptyset(&s); sigemptyset(&none); sigaddset(&s, SIGALRM); sigprocmask(SIG_BLOCK, &s, 0); struct itimerval t = {.it_value = {0, 20000}}; setitimer(ITIMER_REAL, &t, 0); P("%s %d\n", e(sigsuspend(&none)), hits); }
static void signal_wait(void) { sigset_t s; sigemptyset(&s); sigaddset(&s, SIGALRM); sigprocmask(SIG_BLOCK, &s, 0); struct timespec t0 = {0, 10000000}; P("%s ", e(sigtimedwait(&s, 0, &t0))); struct itimerval t = {.it_value = {0, 20000}}; setitimer(ITIMER_REAL, &t, 0); P("%d\n", sigwaitinfo(&s, 0) == SIGALRM); }
static void abort_ends(void) { abort(); }
static void fork_exit_status(void) { int s; pid_t p = fork(); if (!p) _exit(7); P("%d ", waitpid(p, &s, 0) == p); P("%d %d ", WIFEXITED(s), WEXITSTATUS(s)); P("%s\n", e(waitpid(-1, &s, 0))); }
static void fork_killed(void) { int s; pid_t p = fork(); if (!p) { pause(); _exit(0); } nap(10); kill(p, SIGKILL); waitpid(p, &s, 0); P("%d %d\n", WIFSIGNALED(s), WTERMSIG(s)); }
static void *kills_itself(void *how) { nap(20); if (*(int *)how == 2 || *(int *)how == 4) kill(getpid(), SIGKILL); if (*(int *)how == 3) syscall(SYS_tgkill, getpid(), getpid(), SIGKILL); nap(60000); return how; }
static void kill_self_with_threads(void) {
  int how, s; pthread_t t;
  for (how = 0; how < 6; how++) {
    pid_t p = fork(); if (p) { if (how == 5) { nap(20); syscall(SYS_tkill, p, SIGKILL); } waitpid(p, &s, 0); P("%d %d ", WIFSIGNALED(s), WTERMSIG(s)); continue; }
    pthread_create(&t, 0, kills_itself, &how); nap(5); if (how == 0) kill(getpid(), SIGKILL); if (how == 1) raise(SIGKILL); if (how == 4) pthread_exit(0); nap(60000);
  }
  P("\n"); how = 5; pthread_create(&t, 0, kills_itself, &how); kill(getpid(), SIGKILL);
}
static void fork_terminated(void) { int s; pid_t p = fork(); if (!p) { nap(60000); _exit(0); } nap(10); kill(p, SIGTERM); waitpid(p, &s, 0); P("%d %d\n", WIFSIGNALED(s), WTERMSIG(s)); }
static pid_t group_of(pid_t group) { pid_t p = fork(); if (!p) { setpgid(0, group); nap(60000); _exit(0); } setpgid(p, group); return p; }
static int ended(pid_t p) { int s = 0; waitpid(p, &s, 0); return WIFSIGNALED(s) ? WTERMSIG(s) : -WEXITSTATUS(s); }
static void groups_are_inherited(void) {
  pid_t group = getpgrp(), session = getsid(0);
  if (!fork()) {
    P("%d %d ", getpgrp() == group, getsid(0) == session); P("%s ", e(setpgid(0, 0))); P("%d %d %d ", getpgrp() == getpid(), getpgid(0) == getpid(), getsid(getpid()) == session);
    P("%s ", e(setsid())); if (!fork()) { P("%d ", getpgrp() == getppid()); P("%d ", setsid() == getpid()); P("%d %d ", getpgrp() == getpid(), getsid(0) == getpid()); P("%s %s\n", e(setpgid(0, 0)), e(setpgid(0, group))); _exit(0); }
    wait(0); P("%s %d\n", e(setpgid(0, group)), getpgrp() == group); _exit(0);
  }
  wait(0);
}
static void group_errors(void) {
  int p[2], none = 0x7ffffff0; char c; pipe2(p, O_CLOEXEC); pid_t ran = fork(); if (!ran) { execl("/bin/sleep", "sleep", "60", (char *)0); _exit(9); } close(p[1]); read(p[0], &c, 1);
  P("%s %s %s ", e(setpgid(ran, ran)), e(setpgid(none, 0)), e(setpgid(0, -1))); P("%s %s %s\n", e(getpgid(none)), e(getsid(none)), e(kill(-none, 0)));
  pid_t one = group_of(0); P("%s %s ", e(setpgid(one, none)), e(kill(-one, 0))); kill(one, SIGKILL); waitpid(one, 0, 0); P("%s\n", e(kill(-one, 0)));
  if (!fork()) { setsid(); _exit(0); } wait(0); kill(ran, SIGKILL); P("%d\n", ended(ran));
}
static void group_killed(void) {
  pid_t one = group_of(0), two = group_of(one), other = group_of(0); nap(10); P("%s ", e(kill(-one, SIGTERM))); P("%d %d ", ended(one), ended(two)); P("%s ", e(waitpid(other, 0, WNOHANG))); kill(-other, SIGKILL); P("%d\n", ended(other));
}
static void group_killed_from_inside(void) {
  for (int signal_ = 9; signal_ < 16; signal_ += 6) { int p[2]; char c; pipe(p); pid_t one = fork(); if (!one) { setpgid(0, 0); if (!fork()) { nap(60000); _exit(0); } nap(10); kill(0, signal_); nap(60000); _exit(0); } close(p[1]); P("%d ", ended(one)); P("%s ", e(read(p[0], &c, 1))); close(p[0]); }
  P("alive\n");
}
static void lock_holder(void) {
  int d = fileno(tmpfile()); struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET}; P("%s ", e(fcntl(d, F_SETLK, &l)));
  if (!fork()) { struct flock g = {.l_type = F_WRLCK, .l_whence = SEEK_SET}; P("%s ", e(fcntl(d, F_GETLK, &g))); P("%d %d\n", g.l_type == F_WRLCK, g.l_pid == getppid()); _exit(0); }
  wait(0); P("%s ", e(fcntl(d, F_GETLK, &l))); P("%d\n", l.l_type == F_UNLCK);
}
static void group_awaited(void) {
  siginfo_t i = {0}; pid_t one = group_of(0), two = group_of(one), own = fork(); if (!own) { nap(10); _exit(3); } kill(-one, SIGTERM);
  P("%d ", waitpid(0, 0, 0) == own); P("%s ", e(waitpid(0, 0, 0))); P("%s ", e(waitid(P_PGID, one, &i, WEXITED | WNOWAIT))); P("%d %d ", i.si_pid == one || i.si_pid == two, i.si_status);
  pid_t first = waitpid(-one, 0, 0), second = waitpid(-one, 0, 0); P("%d %s\n", first + second == one + two, e(waitpid(-one, 0, 0)));
}
static void fork_shares_pipe(void) { int p[2]; char c[8] = ""; pipe(p); if (!fork()) { close(p[0]); write(p[1], "child", 5); _exit(0); } close(p[1]); P("%s %s ", e(read(p[0], c, 8)), c); P("%s\n", e(read(p[0], c, 8))); wait(0); }
static void fork_nohang(void) { int s; pid_t p = fork(); if (!p) { nap(30); _exit(3); } P("%s ", e(waitpid(p, &s, WNOHANG))); pid_t r; while (!(r = waitpid(p, &s, WNOHANG))) nap(10); P("%d ", r == p); P("%d\n", WEXITSTATUS(s)); }
static void fork_waitid(void) { siginfo_t i = {0}; pid_t p = fork(); if (!p) _exit(5); P("%s ", e(waitid(P_PID, p, &i, WEXITED))); P("%d %d %d\n", i.si_pid == p, i.si_status, i.si_code == CLD_EXITED); }
static void fork_child_signal(void) { on(SIGCHLD, 0); if (!fork()) { nap(10); _exit(0); } struct timespec t = {5, 0}; P("%s %d\n", e(nanosleep(&t, 0)), hits); wait(0); }
static void fork_exec(void) { int p[2], s; char c[16] = ""; pipe(p); if (!fork()) { dup2(p[1], 1); close(p[0]); close(p[1]); execl("/bin/echo", "echo", "exec", (char *)0); _exit(9); } close(p[1]); P("%s %s", e(read(p[0], c, 16)), c); P("%s ", e(read(p[0], c, 16))); wait(&s); P("%d\n", WEXITSTATUS(s)); }
static void fork_cloexec(void) { int p[2], s; pipe2(p, O_CLOEXEC); if (!fork()) { execl("/bin/sleep", "sleep", "0.05", (char *)0); _exit(9); } close(p[1]); char c; P("%s ", e(read(p[0], &c, 1))); wait(&s); P("%d\n", WEXITSTATUS(s)); }
static void vfork_exec(void) { int s; pid_t p = vfork(); if (!p) { execl("/bin/false", "false", (char *)0); _exit(9); } waitpid(p, &s, 0); P("%d\n", WEXITSTATUS(s)); }
static void popen_shell(void) { char c[64] = ""; FILE *f = popen("echo one | tr a-z A-Z; exit 4", "r"); fgets(c, 64, f); int s = pclose(f); P("%s%d\n", c, WEXITSTATUS(s)); }
static void system_status(void) { P("%d\n", WEXITSTATUS(system("sleep 0.02; exit 6"))); }
static void pids_agree(void) { int p[2]; pid_t c, told; pipe(p); c = fork(); if (!c) { told = getpid(); write(p[1], &told, 4); told = getppid(); write(p[1], &told, 4); _exit(0); } read(p[0], &told, 4); P("%d ", told == c); read(p[0], &told, 4); P("%d %d\n", told == getpid(), (int)syscall(SYS_gettid) == getpid()); wait(0); }
static void *sleeps(void *a) { *(pid_t *)a = syscall(SYS_gettid); nap(100); return a; }
static void name(pid_t p) {
  struct sched_param a = {0}; struct rlimit r = {0}; cpu_set_t c; struct { uint32_t version; int pid; } h = {0x20080522, p}; uint32_t data[6];
  CPU_ZERO(&c); CPU_SET(0, &c); CPU_SET(1, &c); P("%s %s %s ", e(sched_getscheduler(p)), e(sched_getparam(p, &a)), e(sched_setscheduler(p, SCHED_OTHER, &a))); P("%s %s ", e(sched_setaffinity(p, sizeof c, &c)), e(sched_getaffinity(p, sizeof c, &c)));
  errno = 0; int priority = getpriority(PRIO_PROCESS, p); P("%d ", errno); P("%d %s ", priority == getpriority(PRIO_PROCESS, 0), e(setpriority(PRIO_PROCESS, p, 19))); P("%s ", e(prlimit(p, RLIMIT_NOFILE, 0, &r))); P("%d ", r.rlim_cur > 0);
  P("%s %s ", e(syscall(SYS_ioprio_get, 1, p)), e(syscall(SYS_ioprio_set, 1, p, 2 << 13 | 7))); P("%s ", e(syscall(SYS_capget, &h, data))); P("%d\n", h.pid == p);
}
static void processes_named_by_number(void) {
  pid_t tid = 0, child = fork(); if (!child) { nap(60000); _exit(0); } name(child); kill(child, SIGKILL); pthread_t t; pthread_create(&t, 0, sleeps, &tid); nap(20); name(tid); name(getpid()); name(0);
  struct { uint32_t version; int pid; } h = {0x20080522, getpid()}; uint32_t data[6]; P("%s ", e(syscall(SYS_capget, &h, data))); P("%s ", e(syscall(SYS_capset, &h, data))); P("%d ", h.pid == getpid()); h.pid = child; P("%s\n", e(syscall(SYS_capset, &h, data))); name(0x7ffffff0);
}
static void dup_shares(void) { int p[2]; char c; pipe(p); int d = dup(p[1]); close(p[1]); P("%s ", e(write(d, "x", 1))); P("%s ", e(read(p[0], &c, 1))); close(d); P("%s\n", e(read(p[0], &c, 1))); }
static void dup_onto(void) { int p[2], q[2]; char c[4] = ""; pipe(p); pipe(q); write(q[1], "Q", 1); P("%d ", dup2(q[0], p[0]) == p[0]); P("%s %s\n", e(read(p[0], c, 4)), c); }
static void dup_stdout(void) { int p[2], keep = dup(1); char c[16] = ""; pipe(p); dup2(p[1], 1); P("hidden"); dup2(keep, 1); P("%s %s\n", e(read(p[0], c, 16)), c); }
static void close_twice(void) { int p[2]; pipe(p); P("%s ", e(close(p[0]))); P("%s ", e(close(p[0]))); char c; P("%s\n", e(read(p[0], &c, 1))); }
static void *worker(void *a) { nap(10); *(int *)a = 5; return (void *)8; }
static void thread_join(void) { int v = 0; void *r; pthread_t t; pthread_create(&t, 0, worker, &v); pthread_join(t, &r); P("%d %ld\n", v, (long)r); }
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t cv = PTHREAD_COND_INITIALIZER; static int turn, sum;
static void *adder(void *a) { for (int i = 0; i < 1000; i++) { pthread_mutex_lock(&mu); sum++; pthread_mutex_unlock(&mu); } return a; }
static void thread_mutex(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, adder, 0); for (int i = 0; i < 4; i++) pthread_join(t[i], 0); P("%d\n", sum); }
static void *ponger(void *a) { for (int i = 0; i < 50; i++) { pthread_mutex_lock(&mu); while (turn != 1) pthread_cond_wait(&cv, &mu); turn = 0; pthread_cond_broadcast(&cv); pthread_mutex_unlock(&mu); } return a; }
static void thread_condition(void) { pthread_t t; pthread_create(&t, 0, ponger, 0); for (int i = 0; i < 50; i++) { pthread_mutex_lock(&mu); while (turn != 0) pthread_cond_wait(&cv, &mu); turn = 1; pthread_cond_broadcast(&cv); pthread_mutex_unlock(&mu); } pthread_join(t, 0); P("%d\n", turn); }
static void thread_timed_wait(void) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t); t.tv_nsec += 20000000; if (t.tv_nsec >= 1000000000) { t.tv_sec++; t.tv_nsec -= 1000000000; } pthread_mutex_lock(&mu); P("%d\n", pthread_cond_timedwait(&cv, &mu, &t)); }
static int word; static void *waker(void *a) { nap(20); word = 1; P("woke %ld\n", syscall(SYS_futex, &word, FUTEX_WAKE, 1)); return a; }
static void futex_wait_wake(void) { pthread_t t; P("%s ", e(syscall(SYS_futex, &word, FUTEX_WAIT, 7, 0))); pthread_create(&t, 0, waker, 0); long r = syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0); pthread_join(t, 0); P("%s\n", e(r)); }
static void futex_times_out(void) { struct timespec t = {0, 15000000}; long s = ms(); P("%s ", e(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &t))); P("%d\n", ms() - s >= 15); }
static void *parked(void *a) { return (void *)syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0); }
static void futex_requeue(void) { static int other; pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, parked, 0); nap(50); P("%ld ", syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 1, 1, &other, 0)); P("%ld ", syscall(SYS_futex, &word, FUTEX_WAKE, 9)); P("%ld ", syscall(SYS_futex, &other, FUTEX_WAKE, 9)); word = 1; P("%ld\n", syscall(SYS_futex, &word, FUTEX_WAKE, 9)); for (int i = 0; i < 3; i++) pthread_join(t[i], 0); }
static void futex_bits(void) { pthread_t t; pthread_create(&t, 0, parked, 0); nap(30); P("%s ", e(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, 0, 0, 0))); P("%ld\n", syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, 1, 0, 0, 4)); pthread_join(t, 0); }
static void futex_op(void) { static int other = 5; pthread_t t; pthread_create(&t, 0, parked, 0); nap(30); P("%ld ", syscall(SYS_futex, &word, FUTEX_WAKE_OP, 1, 1, &other, FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_GT, 4))); P("%d\n", other); pthread_join(t, 0); }
static void random_lengths(void) { char b[64]; P("%s ", e(getrandom(b, 64, 0))); int f = open("/dev/urandom", O_RDONLY); P("%s\n", e(read(f, b, 33))); }
static void *blocked_reader(void *a) { char c; return (void *)(long)read(*(int *)a, &c, 1); }
static void thread_wakes_reader(void) { int p[2]; pipe(p); pthread_t t; void *r; pthread_create(&t, 0, blocked_reader, &p[0]); nap(10); write(p[1], "x", 1); pthread_join(t, &r); P("%ld\n", (long)r); }
static void *late_watcher(void *a) { int *f = a; nap(20); watch(f[0], f[1], EPOLLIN); return a; }
static void epoll_added_while_waiting(void) { int p[2], f[2] = {epoll_create1(0), 0}; pipe(p); write(p[1], "x", 1); f[1] = p[0]; pthread_t t; pthread_create(&t, 0, late_watcher, f); P("%x\n", waits(f[0], -1)); pthread_join(t, 0); }
static void thread_exit_first(void) { static pthread_t t; static int v; pthread_create(&t, 0, worker, &v); P("main ends\n"); pthread_exit(0); }
static void exit_with_threads(void) { pthread_t t; int p[2]; pipe(p); pthread_create(&t, 0, blocked_reader, &p[0]); nap(10); P("out\n"); exit(3); }
static void *shared(size_t n) { return mmap(0, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }
static void futex_shared(void) { uint32_t *w = shared(4); if (!fork()) { syscall(SYS_futex, w, FUTEX_WAIT, 0, 0, 0, 0); P("child %u\n", *w); _exit(0); } nap(30); *w = 7; long n = syscall(SYS_futex, w, FUTEX_WAKE, 9, 0, 0, 0); wait(0); P("%ld\n", n); }
static void futex_shared_elsewhere(void) { int f = memfd_create("m", 0); ftruncate(f, 8192); uint32_t *w = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0); if (!fork()) { uint32_t *v = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 4096); syscall(SYS_futex, v, FUTEX_WAIT, 0, 0, 0, 0); P("child %u\n", *v); _exit(0); } nap(30); w[1024] = 5; long n = syscall(SYS_futex, w, FUTEX_WAKE, 9, 0, 0, 0), m = syscall(SYS_futex, w + 1024, FUTEX_WAKE, 9, 0, 0, 0); wait(0); P("%ld %ld\n", n, m); }
static void futex_not_shared(void) { static uint32_t w; if (!fork()) { struct timespec t = {0, 60000000}; P("child %s\n", e(syscall(SYS_futex, &w, FUTEX_WAIT, 0, &t, 0, 0))); _exit(0); } nap(20); P("%ld\n", (long)syscall(SYS_futex, &w, FUTEX_WAKE, 9, 0, 0, 0)); wait(0); }
static void mutex_shared(void) { pthread_mutex_t *m = shared(sizeof *m); pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED); pthread_mutex_init(m, &a); pthread_mutex_lock(m); if (!fork()) { pthread_mutex_lock(m); P("child\n"); pthread_mutex_unlock(m); _exit(0); } nap(30); P("parent\n"); pthread_mutex_unlock(m); wait(0); }
static void semaphore_shared(void) { sem_t *s = shared(2 * sizeof *s); sem_init(s, 1, 0); sem_init(s + 1, 1, 0); if (!fork()) { for (int i = 0; i < 3; i++) { sem_wait(s); P("c%d ", i); sem_post(s + 1); } _exit(0); } for (int i = 0; i < 3; i++) { P("p%d ", i); sem_post(s); sem_wait(s + 1); } wait(0); P("\n"); }
static int dial_full(uint16_t port, int flags, const struct timeval *t, int *r) { int s = socket(AF_INET, SOCK_STREAM | flags, 0); if (t) setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, t, sizeof *t); struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}; *r = connect(s, (void *)&a, sizeof a); return s; }
static void tcp_connect_times_out(void) { uint16_t p; int r, l = listener(&p); listen(l, 0); dial(p, 0, &r); P("%d ", r); struct timeval t = {0, 50000}; long s = ms(); dial_full(p, 0, &t, &r); P("%s ", e(r)); P("%d\n", ms() - s >= 49 && ms() - s < 900); }
static void tcp_connect_waits_for_room(void) { uint16_t p; int r, l = listener(&p); listen(l, 0); dial(p, 0, &r); int s = dial_full(p, SOCK_NONBLOCK, 0, &r); P("%s ", e(r)); P("%x ", ready(s, POLLOUT, 50)); P("%d ", accept(l, 0, 0) > 0); P("%x ", ready(s, POLLOUT, 5000)); P("%d\n", accept(l, 0, 0) > 0); }
static void tcp_half_close_answers(void) { int a, b; both(&a, &b); if (!fork()) { char c[8]; int n = 0, r; close(a); while ((r = read(b, c, 8)) > 0) n += r; for (int i = 0; i < 3; i++) { nap(5); dprintf(b, "%d ", n + i); } _exit(0); } close(b); write(a, "request", 7); P("%s ", e(shutdown(a, SHUT_WR))); char c[64] = ""; int n = 0, r; while ((r = read(a, c + n, 8)) > 0) n += r; P("%s%s\n", c, e(r)); wait(0); }
static void tcp_shut_reading(void) { int a, b; char c; both(&a, &b); shutdown(b, SHUT_RD); P("%s ", e(read(b, &c, 1))); P("%s ", e(write(b, "x", 1))); P("%s\n", e(read(a, &c, 1))); }
static void tcp_fills_up(void) { int a, b; both(&a, &b); fcntl(a, F_SETFL, O_NONBLOCK); static char k[65536]; long n = 0, r, got = 0; while ((r = write(a, k, sizeof k)) > 0) n += r; P("%s %x ", e(r), ready(a, POLLOUT, 0)); fcntl(b, F_SETFL, O_NONBLOCK); while (got < n) { if ((r = read(b, k, sizeof k)) > 0) got += r; else ready(b, POLLIN, 100); } P("%d %x\n", got == n, ready(a, POLLOUT, 1000)); }
static void tcp_bind_twice(void) { uint16_t p; int l = listener(&p), s = socket(AF_INET, SOCK_STREAM, 0); (void)l; struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(p), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}; P("%s\n", e(bind(s, (void *)&a, sizeof a))); }
static void tcp_accept_order(void) { uint16_t p; int r, l = listener(&p); char c; int s[3]; for (int i = 0; i < 3; i++) { s[i] = dial(p, 0, &r); write(s[i], "abc" + i, 1); } for (int i = 0; i < 3; i++) { int t = accept(l, 0, 0); read(t, &c, 1); P("%c", c); } P("\n"); }
static void pipe_partial_write(void) { int p[2]; static char k[65536]; pipe2(p, O_NONBLOCK); P("%s ", e(write(p[1], k, 61440))); P("%s ", e(write(p[1], k, 8192))); P("%s ", e(write(p[1], k, 1))); P("%x ", ready(p[1], POLLOUT, 0)); P("%s ", e(read(p[0], k, 4096))); P("%x\n", ready(p[1], POLLOUT, 0)); }
static void *drains(void *a) { static char k[8192]; long n = 0, r; while ((r = read(*(int *)a, k, sizeof k)) > 0) n += r; return (void *)n; }
static void pipe_long_write(void) { int p[2]; static char k[200000]; pipe(p); pthread_t t; void *n; pthread_create(&t, 0, drains, &p[0]); P("%s ", e(write(p[1], k, sizeof k))); close(p[1]); pthread_join(t, &n); P("%ld\n", (long)n); }
static void dup_shares_flags(void) { int p[2]; char c; pipe(p); int d = dup(p[0]); fcntl(d, F_SETFL, O_NONBLOCK); P("%s ", e(read(p[0], &c, 1))); int f = fcntl(p[0], F_DUPFD_CLOEXEC, 300); P("%d %d\n", f >= 300, fcntl(f, F_GETFD)); }
static void dup_keeps_open(void) { int a, b; char c; both(&a, &b); int d = dup(a); close(a); P("%x ", ready(b, POLLIN, 20)); write(d, "x", 1); P("%s ", e(read(b, &c, 1))); close(d); P("%s\n", e(read(b, &c, 1))); }
static void dup_of_epoll(void) { int p[2], ep = epoll_create1(0), d = fcntl(ep, F_DUPFD_CLOEXEC, 3); pipe(p); watch(ep, p[0], EPOLLIN); close(ep); write(p[1], "x", 1); P("%x\n", waits(d, 100)); }
static void *reads_event(void *a) { uint64_t v = 0; read(*(int *)a, &v, 8); return (void *)(long)v; }
static void event_wakes_thread(void) { int f = eventfd(0, 0); pthread_t t; void *v; pthread_create(&t, 0, reads_event, &f); nap(20); uint64_t n = 6; write(f, &n, 8); pthread_join(t, &v); P("%ld\n", (long)v); }
static void event_epoll_edge(void) { int f = eventfd(0, EFD_NONBLOCK), ep = epoll_create1(0); uint64_t v = 1; watch(ep, f, EPOLLIN | EPOLLET); write(f, &v, 8); P("%x %x ", waits(ep, 0), waits(ep, 0)); write(f, &v, 8); P("%x ", waits(ep, 0)); read(f, &v, 8); P("%ld %x\n", (long)v, waits(ep, 0)); }
static void event_full(void) { int f = eventfd(0, EFD_NONBLOCK); uint64_t v = UINT64_MAX - 1; P("%s ", e(write(f, &v, 8))); v = 1; P("%s %x ", e(write(f, &v, 8)), ready(f, POLLIN | POLLOUT, 0)); v = UINT64_MAX; P("%s\n", e(write(f, &v, 8))); }
static void alarm_after(int us, int flags) { on(SIGALRM, flags); struct itimerval t = {.it_value = {us / 1000000, us % 1000000}}; setitimer(ITIMER_REAL, &t, 0); }
static void alarm_interrupts_epoll(void) { int ep = epoll_create1(0); struct epoll_event x; alarm_after(20000, SA_RESTART); P("%s %d\n", e(epoll_wait(ep, &x, 1, 5000)), hits); }
static void alarm_interrupts_select(void) { int p[2]; pipe(p); fd_set r; FD_ZERO(&r); FD_SET(p[0], &r); struct timeval t = {5, 0}; alarm_after(20000, SA_RESTART); P("%s %d\n", e(select(p[0] + 1, &r, 0, 0, &t)), hits); }
static void alarm_interrupts_accept(void) { uint16_t p; int l = listener(&p); alarm_after(20000, 0); P("%s %d\n", e(accept(l, 0, 0)), hits); }
static void alarm_interrupts_receive(void) { int a, b; char c; both(&a, &b); alarm_after(20000, 0); P("%s %d\n", e(recv(b, &c, 1, 0)), hits); }
static void alarm_interrupts_wait(void) { int p[2]; pipe(p); if (!fork()) { char c; close(p[1]); read(p[0], &c, 1); _exit(4); } alarm_after(20000, 0); int s = 0; P("%s %d ", e(wait(&s)), hits); close(p[1]); wait(&s); P("%d\n", WEXITSTATUS(s)); }
static void alarm_during_futex(void) { uint32_t w = 0; struct timespec t = {0, 90000000}; alarm_after(20000, 0); P("%s %d\n", e(syscall(SYS_futex, &w, FUTEX_WAIT_PRIVATE, 0, &t, 0, 0)), hits); }
static void alarm_left(void) { struct itimerval t = {.it_value = {5, 0}}, o; setitimer(ITIMER_REAL, &t, 0); getitimer(ITIMER_REAL, &o); P("%d ", (int)o.it_value.tv_sec); P("%u ", alarm(9)); P("%u\n", alarm(0)); }
static void *late_killer(void *a) { nap(20); pthread_kill(*(pthread_t *)a, SIGUSR1); return a; }
static void signal_to_waiting_thread(void) { on(SIGUSR1, 0); pthread_t me = pthread_self(), t; int p[2]; char c; pipe(p); pthread_create(&t, 0, late_killer, &me); P("%s %d\n", e(read(p[0], &c, 1)), hits); pthread_join(t, 0); }
static void pselect_mask(void) { on(SIGALRM, 0); sigset_t s, none; sigemptyset(&none); sigemptyset(&s); sigaddset(&s, SIGALRM); sigprocmask(SIG_BLOCK, &s, 0); alarm_after(20000, SA_RESTART); int p[2]; pipe(p); fd_set r; FD_ZERO(&r); FD_SET(p[0], &r); struct timespec t = {5, 0}; P("%s ", e(pselect(p[0] + 1, &r, 0, 0, &t, &none))); P("%d\n", hits); }
static void epoll_mask(void) { on(SIGALRM, 0); sigset_t s, none; sigemptyset(&none); sigemptyset(&s); sigaddset(&s, SIGALRM); sigprocmask(SIG_BLOCK, &s, 0); alarm_after(20000, 0); int p[2], ep = epoll_create1(0); struct epoll_event x; pipe(p); watch(ep, p[0], EPOLLIN); write(p[1], "x", 1); nap(40); P("%d ", hits); P("%s %d ", e(epoll_pwait(ep, &x, 1, 5000, &none)), hits); char c; read(p[0], &c, 1); P("%s ", e(epoll_pwait(ep, &x, 1, 5000, &none))); P("%d\n", hits); }
static void ppoll_mask(void) { on(SIGUSR1, 0); sigset_t s, none; sigemptyset(&none); sigemptyset(&s); sigaddset(&s, SIGUSR1); sigprocmask(SIG_BLOCK, &s, 0); raise(SIGUSR1); P("%d ", hits); struct timespec t = {5, 0}; P("%s ", e(ppoll(0, 0, &t, &none))); P("%d\n", hits); }
static void *outlives(void *a) { int p[2]; char c[4] = "no"; struct pollfd f = {open("/etc/passwd", O_RDONLY), POLLIN, 0}; nap(20 + (long)a); P("alive\n"); pipe(p); write(p[1], "yes", 3); P("%s %.3s ", e(read(p[0], c, 3)), c); P("%s %x\n", e(poll(&f, 1, 0)), f.revents); nap(20); P("still\n"); return a; }
static void thread_outlives_first(void) { static pthread_t t, u; pthread_create(&t, 0, outlives, 0); pthread_create(&u, 0, outlives, (void *)80); pthread_exit(0); }
// Timers that send signals.
static volatile int told[3];
static void on_timer(int signal, siginfo_t *info, void *x) { (void)x; hits++; told[0] = signal == info->si_signo; told[1] = info->si_code == SI_TIMER; told[2] = info->si_value.sival_int; }
static timer_t timer_of(int notify, int signal, int value) { struct sigaction a = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO}; sigaction(signal, &a, 0); struct sigevent v = {.sigev_notify = notify, .sigev_signo = signal, .sigev_value.sival_int = value}; timer_t t = 0; P("%s ", e(timer_create(CLOCK_MONOTONIC, &v, &t))); return t; }
static int set_timer(timer_t t, int flags, long first, long interval) { struct itimerspec s = {{interval / 1000, interval % 1000 * 1000000}, {first / 1000, first % 1000 * 1000000}}; return timer_settime(t, flags, &s, 0); }
static void signal_timer(void) { timer_t t = timer_of(SIGEV_SIGNAL, SIGUSR2, 42); P("%s ", e(set_timer(t, 0, 20, 0))); long s = ms(); struct timespec l = {5, 0}; P("%s ", e(nanosleep(&l, 0))); P("%d %d%d %d %d\n", hits, told[0], told[1], told[2], ms() - s >= 19 && ms() - s < 2000); }
static void signal_timer_interval(void) { timer_t t = timer_of(SIGEV_SIGNAL, SIGALRM, 7); set_timer(t, 0, 20, 20); while (hits < 4) pause(); set_timer(t, 0, 0, 0); int seen = hits; nap(50); P("%d %d\n", seen >= 4, hits == seen); }
static void signal_timer_left(void) { timer_t t = timer_of(SIGEV_NONE, 0, 0); struct itimerspec l; timer_gettime(t, &l); P("%d ", l.it_value.tv_sec == 0 && l.it_value.tv_nsec == 0); set_timer(t, 0, 5000, 3000); timer_gettime(t, &l); P("%ld %d ", (long)l.it_interval.tv_sec, l.it_value.tv_sec == 4 || l.it_value.tv_sec == 5); struct itimerspec n = {{0, 0}, {9, 0}}, o; P("%s ", e(timer_settime(t, 0, &n, &o))); P("%ld\n", (long)o.it_interval.tv_sec); }
static void signal_timer_absolute(void) { timer_t t = timer_of(SIGEV_SIGNAL, SIGUSR1, 3); struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now); struct itimerspec s = {{0, 0}, {now.tv_sec, now.tv_nsec}}; P("%s ", e(timer_settime(t, TIMER_ABSTIME, &s, 0))); nap(20); P("%d %d\n", hits, told[2]); }
static void signal_timer_errors(void) { timer_t t = timer_of(SIGEV_SIGNAL, SIGUSR1, 1); P("%s ", e(timer_delete(t))); P("%s ", e(syscall(SYS_timer_delete, 99))); P("%s ", e(syscall(SYS_timer_getoverrun, 99))); struct sigevent v = {.sigev_notify = 77, .sigev_signo = SIGUSR1}; int n; P("%s ", e(syscall(SYS_timer_create, CLOCK_MONOTONIC, &v, &n))); v.sigev_notify = SIGEV_SIGNAL; v.sigev_signo = 99; P("%s\n", e(syscall(SYS_timer_create, CLOCK_MONOTONIC, &v, &n))); }
static void signal_timer_blocked(void) { sigset_t m; sigemptyset(&m); sigaddset(&m, SIGUSR1); sigprocmask(SIG_BLOCK, &m, 0); timer_t t = timer_of(SIGEV_SIGNAL, SIGUSR1, 5); set_timer(t, 0, 10, 10); nap(55); P("%d ", hits); siginfo_t i; P("%d ", sigwaitinfo(&m, &i) == SIGUSR1); P("%d %d\n", i.si_value.sival_int, timer_getoverrun(t) >= 3); }
static void signal_timer_of_parent(void) { timer_t t = timer_of(SIGEV_SIGNAL, SIGUSR1, 5); set_timer(t, 0, 30, 0); if (!fork()) { nap(60); P("child %d ", hits); _exit(0); } int s; while (wait(&s) < 0); P("parent %d\n", hits); }
static void on_thread(union sigval v) { P("thread %d ", v.sival_int); int p = v.sival_int; (void)p; hits++; }
static void signal_timer_thread(void) { struct sigevent v = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_thread, .sigev_value.sival_int = 8}; timer_t t; P("%s ", e(timer_create(CLOCK_REALTIME, &v, &t))); set_timer(t, 0, 10, 0); for (int i = 0; i < 500 && !hits; i++) nap(10); P("%s\n", e(timer_delete(t))); }
static void signal_timer_default(void) { timer_t t; on(SIGALRM, 0); P("%s ", e(timer_create(CLOCK_MONOTONIC, 0, &t))); set_timer(t, 0, 10, 0); pause(); P("%d\n", hits); }
static int signals(int flags) { sigset_t m; sigemptyset(&m); sigaddset(&m, SIGUSR1); sigaddset(&m, SIGCHLD); sigprocmask(SIG_BLOCK, &m, 0); return signalfd(-1, &m, flags); }
static void signal_file(void) { int s = signals(SFD_NONBLOCK); struct signalfd_siginfo i; P("%s %x ", e(read(s, &i, sizeof i)), ready(s, POLLIN, 0)); kill(getpid(), SIGUSR1); P("%x ", ready(s, POLLIN, 1000)); P("%s ", e(read(s, &i, sizeof i))); P("%d %d %d ", i.ssi_signo == SIGUSR1, i.ssi_code == SI_USER, i.ssi_pid == (uint32_t)getpid()); P("%x %s\n", ready(s, POLLIN, 0), e(read(s, &i, sizeof i))); }
static void signal_file_epoll(void) { int s = signals(0), ep = epoll_create1(0); watch(ep, s, EPOLLIN | EPOLLET); P("%x ", waits(ep, 0)); if (!fork()) { nap(20); _exit(3); } P("%x ", waits(ep, 5000)); struct signalfd_siginfo i; P("%s %d ", e(read(s, &i, sizeof i)), i.ssi_signo == SIGCHLD); P("%x\n", waits(ep, 0)); }
static void signal_file_waits(void) { int s = signals(0); if (!fork()) { nap(20); kill(getppid(), SIGUSR1); _exit(0); } struct signalfd_siginfo i; P("%s %d\n", e(read(s, &i, sizeof i)), i.ssi_signo == SIGUSR1); }
static void signal_file_errors(void) { sigset_t m; sigemptyset(&m); struct signalfd_siginfo i; P("%s ", e(signalfd(77, &m, 0))); P("%s ", e(signalfd(1, &m, 0))); int s = signals(0); P("%s ", e(write(s, &i, sizeof i))); P("%d\n", signalfd(s, &m, 0) == s); }
#define C(n) {#n, n}
static struct { const char *name; void (*run)(void); } all[] = {
  C(tcp_echo), C(tcp_partial_read), C(tcp_peek), C(tcp_waitall), C(tcp_eof), C(tcp_half_close), C(tcp_refused), C(tcp_refused_nonblocking), C(tcp_nonblocking_read), C(tcp_fionread), C(tcp_vectors), C(tcp_message), C(tcp_names), C(tcp_not_connected), C(tcp_options), C(tcp_receive_timeout), C(tcp_accept_nonblocking), C(tcp_poll_states), C(tcp_sigpipe), C(tcp_nosignal), C(fresh_socket_poll),
  C(server_answers), C(server_half_close), C(server_half_close_waits), C(server_half_close_edge), C(server_half_close_of_a_copy), C(server_shut_both), C(server_shut_one_by_one), C(server_ends_first),
  C(pipe_order), C(pipe_eof), C(pipe_broken), C(pipe_sigpipe), C(pipe_nonblocking), C(pipe_wrong_end), C(pipe_kind), C(pair_both_ways), C(pair_shutdown), C(event_counts), C(event_semaphore), C(poll_timeout), C(poll_invalid), C(poll_none), C(poll_regular_file), C(ppoll_spans), C(select_sets), C(select_timeout), C(select_bad), C(select_bad_pointer), C(poll_bad_pointer),
  C(epoll_level), C(epoll_edge), C(epoll_edge_socket), C(epoll_oneshot), C(epoll_errors), C(epoll_closed), C(epoll_duplicate), C(epoll_timeout), C(epoll_in_epoll), C(epoll_added_while_waiting), C(timer_fires), C(timer_interval), C(timer_disarm), C(timer_epoll), C(sleep_spans), C(sleep_invalid),
  C(alarm_interrupts_sleep), C(alarm_interrupts_poll), C(alarm_interrupts_read), C(alarm_restarts_read), C(raise_handled), C(raise_blocked), C(raise_fatal), C(suspend_waits), C(signal_wait), C(abort_ends),
  C(fork_exit_status), C(fork_killed), C(kill_self_with_threads), C(groups_are_inherited), C(group_errors), C(group_killed), C(group_killed_from_inside), C(group_awaited), C(lock_holder), C(fork_terminated), C(fork_shares_pipe), C(fork_nohang), C(fork_waitid), C(fork_child_signal), C(fork_exec), C(fork_cloexec), C(vfork_exec), C(popen_shell), C(system_status), C(pids_agree), C(processes_named_by_number), C(dup_shares), C(dup_onto), C(dup_stdout), C(close_twice),
  C(thread_join), C(thread_mutex), C(thread_condition), C(thread_timed_wait), C(thread_wakes_reader), C(thread_exit_first), C(exit_with_threads), C(futex_wait_wake), C(futex_times_out), C(futex_requeue), C(futex_bits), C(futex_op), C(random_lengths),
  C(thread_outlives_first), C(futex_shared), C(futex_shared_elsewhere), C(futex_not_shared), C(mutex_shared), C(semaphore_shared), C(tcp_connect_times_out), C(tcp_connect_waits_for_room), C(tcp_half_close_answers), C(tcp_shut_reading), C(tcp_fills_up), C(tcp_bind_twice), C(tcp_accept_order),
  C(pipe_partial_write), C(pipe_long_write), C(dup_shares_flags), C(dup_keeps_open), C(dup_of_epoll), C(event_wakes_thread), C(event_epoll_edge), C(event_full),
  C(alarm_interrupts_epoll), C(alarm_interrupts_select), C(alarm_interrupts_accept), C(alarm_interrupts_receive), C(alarm_interrupts_wait), C(alarm_during_futex), C(alarm_left), C(signal_to_waiting_thread), C(ppoll_mask), C(pselect_mask), C(epoll_mask),
  C(signal_timer), C(signal_timer_interval), C(signal_timer_left), C(signal_timer_absolute), C(signal_timer_errors), C(signal_timer_blocked), C(signal_timer_of_parent), C(signal_timer_thread), C(signal_timer_default),
  C(signal_file), C(signal_file_epoll), C(signal_file_waits), C(signal_file_errors),
};
int main(int n, char **a) {
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) { if (n == 2 && !strcmp(a[1], "list")) puts(all[i].name); else if (n == 2 && !strcmp(a[1], all[i].name)) { all[i].run(); return 0; } }
  return n == 2 && !strcmp(a[1], "list") ? 0 : 2;
}
