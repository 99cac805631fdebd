/* Writing that fails on some files, and a clock that goes back: preloaded by machine.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static int broken(int fd) {
    char name[64], path[4096]; const char *part = getenv("FAULT_EIO");
    if (!part || fd < 3) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return strstr(path, part) != 0;
}
#define FAIL(fd) if (broken(fd)) { errno = EIO; return -1; }
ssize_t write(int fd, const void *data, size_t n) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    FAIL(fd) return real(fd, data, n);
}
ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
    FAIL(fd) return real(fd, data, n, at);
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    static long calls;
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, now);
    if (clock == CLOCK_REALTIME && getenv("FAULT_CLOCK") && ++calls > 200) now->tv_sec -= 7200;
    return status;
}
