/* Ends the process, or makes a call fail, at the N-th file-system call below a folder (tests/crash/library.py).
 *
 * Loaded with LD_PRELOAD; asleep until crash_arm(). CPython makes its calls through libc, so that wrapping the
 * names of libc is enough. Counted are the calls that can change what a later process finds, and opens; reads and
 * closes are not: dying there leaves the disk as dying at the next counted call does.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode {
    COUNT = 0, /* count only */
    BEFORE,    /* the N-th call is not made: the process ends */
    HALF,      /* the N-th write writes half of its bytes, then the process ends */
    SHORT,     /* the N-th write writes half of its bytes and says so */
    FAIL,      /* the N-th call fails once with EIO */
    FULL       /* from the N-th on, calls that need space fail with ENOSPC */
};
enum kind { PLAIN, WRITES, NEEDS_SPACE };

#define EXIT_CODE 77

static char root[PATH_MAX];
static size_t root_length;
static long at, seen;
static enum mode mode;
static int report = -1;

/* Starts counting. `folder` is a real path; the N-th call, when it comes, is named in one line on `fd`. */
void crash_arm(const char *folder, long n, int how, int fd) {
    snprintf(root, sizeof root, "%s", folder);
    root_length = strlen(root);
    at = n;
    seen = 0;
    report = fd;
    mode = how;
}

/* Stops counting; the number of calls since crash_arm(). */
long crash_disarm(void) {
    root_length = 0;
    return seen;
}

static int below_root(const char *path) {
    return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0);
}

static int fd_path(int fd, char *out, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, out, size - 1);
    out[length > 0 ? length : 0] = 0;
    return length > 0;
}

static int watched_fd(int fd) {
    char path[PATH_MAX];
    return root_length && fd_path(fd, path, sizeof path) && below_root(path);
}

static int watched_at(int dir, const char *path) {
    char folder[PATH_MAX];
    if (!root_length || !path) return 0;
    if (path[0] == '/') return below_root(path);
    if (dir == AT_FDCWD) return getcwd(folder, sizeof folder) && below_root(folder);
    return watched_fd(dir);
}

static void tell(const char *call, const char *path, int fd) {
    char line[PATH_MAX + 128], name[PATH_MAX] = "";
    if (!path && fd_path(fd, name, sizeof name)) path = name;
    int length = snprintf(line, sizeof line, "%ld %s %s\n", seen, call, path ? path : "?");
    if (report >= 0) syscall(SYS_write, report, line, (size_t)length);
}

/* Counts one call. 0: make it; 1: make it by halves and, if HALF, end; -1: it fails, errno is set. */
static int step(const char *call, const char *path, int fd, enum kind kind, size_t bytes) {
    int kept = errno;
    if ((mode == HALF || mode == SHORT) && (kind != WRITES || bytes < 2)) return 0;
    if (mode == FULL && kind == PLAIN) return 0;
    seen++;
    errno = kept;
    if (mode == COUNT || seen < at || (seen > at && mode != FULL)) return 0;
    if (seen == at) tell(call, path, fd);
    switch (mode) {
    case BEFORE:
        _exit(EXIT_CODE);
    case HALF:
    case SHORT:
        return 1;
    case FAIL:
        errno = EIO;
        return -1;
    case FULL:
        errno = ENOSPC;
        return -1;
    default:
        errno = kept;
        return 0;
    }
}

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) _exit(78);
    return found;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type(*)(__VA_ARGS__))next(#name)

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, name, const char *, int, ...); \
        mode_t bits = 0; \
        if (flags & (O_CREAT | __O_TMPFILE)) { va_list rest; va_start(rest, flags); bits = va_arg(rest, mode_t); va_end(rest); } \
        if (watched_at(AT_FDCWD, path) && step(#name, path, -1, flags & O_CREAT ? NEEDS_SPACE : PLAIN, 0) < 0) return -1; \
        return real(path, flags, bits); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int dir, const char *path, int flags, ...) { \
        REAL(int, name, int, const char *, int, ...); \
        mode_t bits = 0; \
        if (flags & (O_CREAT | __O_TMPFILE)) { va_list rest; va_start(rest, flags); bits = va_arg(rest, mode_t); va_end(rest); } \
        if (watched_at(dir, path) && step(#name, path, -1, flags & O_CREAT ? NEEDS_SPACE : PLAIN, 0) < 0) return -1; \
        return real(dir, path, flags, bits); \
    }
OPENAT(openat)
OPENAT(openat64)

#define CREAT(name) \
    int name(const char *path, mode_t bits) { \
        REAL(int, name, const char *, mode_t); \
        if (watched_at(AT_FDCWD, path) && step(#name, path, -1, NEEDS_SPACE, 0) < 0) return -1; \
        return real(path, bits); \
    }
CREAT(creat)
CREAT(creat64)

ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, write, int, const void *, size_t);
    if (!watched_fd(fd)) return real(fd, data, size);
    int how = step("write", NULL, fd, WRITES, size);
    if (how < 0) return -1;
    if (how == 0) return real(fd, data, size);
    ssize_t done = real(fd, data, size / 2);
    if (mode == HALF) _exit(EXIT_CODE);
    return done;
}

#define PWRITE(name, offset_type) \
    ssize_t name(int fd, const void *data, size_t size, offset_type offset) { \
        REAL(ssize_t, name, int, const void *, size_t, offset_type); \
        if (!watched_fd(fd)) return real(fd, data, size, offset); \
        int how = step(#name, NULL, fd, WRITES, size); \
        if (how < 0) return -1; \
        if (how == 0) return real(fd, data, size, offset); \
        ssize_t done = real(fd, data, size / 2, offset); \
        if (mode == HALF) _exit(EXIT_CODE); \
        return done; \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, writev, int, const struct iovec *, int);
    if (watched_fd(fd) && step("writev", NULL, fd, NEEDS_SPACE, 0) < 0) return -1;
    return real(fd, parts, count);
}

#define ON_FD(name, kind, parameters, types, arguments) \
    int name parameters { \
        static int (*real) types; \
        if (!real) real = (int(*) types)next(#name); \
        if (watched_fd(fd) && step(#name, NULL, fd, kind, 0) < 0) return -1; \
        return real arguments; \
    }
ON_FD(fsync, PLAIN, (int fd), (int), (fd))
ON_FD(fdatasync, PLAIN, (int fd), (int), (fd))
ON_FD(ftruncate, PLAIN, (int fd, off_t size), (int, off_t), (fd, size))
ON_FD(ftruncate64, PLAIN, (int fd, off64_t size), (int, off64_t), (fd, size))
ON_FD(fchmod, PLAIN, (int fd, mode_t bits), (int, mode_t), (fd, bits))
ON_FD(posix_fallocate, NEEDS_SPACE, (int fd, off_t from, off_t size), (int, off_t, off_t), (fd, from, size))

#define ON_PATH(name, kind, parameters, types, arguments) \
    int name parameters { \
        static int (*real) types; \
        if (!real) real = (int(*) types)next(#name); \
        if (watched_at(AT_FDCWD, path) && step(#name, path, -1, kind, 0) < 0) return -1; \
        return real arguments; \
    }
ON_PATH(unlink, PLAIN, (const char *path), (const char *), (path))
ON_PATH(rmdir, PLAIN, (const char *path), (const char *), (path))
ON_PATH(remove, PLAIN, (const char *path), (const char *), (path))
ON_PATH(mkdir, NEEDS_SPACE, (const char *path, mode_t bits), (const char *, mode_t), (path, bits))
ON_PATH(chmod, PLAIN, (const char *path, mode_t bits), (const char *, mode_t), (path, bits))
ON_PATH(truncate, PLAIN, (const char *path, off_t size), (const char *, off_t), (path, size))
ON_PATH(truncate64, PLAIN, (const char *path, off64_t size), (const char *, off64_t), (path, size))
ON_PATH(mkfifo, NEEDS_SPACE, (const char *path, mode_t bits), (const char *, mode_t), (path, bits))

#define AT_PATH(name, kind, parameters, types, arguments) \
    int name parameters { \
        static int (*real) types; \
        if (!real) real = (int(*) types)next(#name); \
        if (watched_at(dir, path) && step(#name, path, -1, kind, 0) < 0) return -1; \
        return real arguments; \
    }
AT_PATH(unlinkat, PLAIN, (int dir, const char *path, int flags), (int, const char *, int), (dir, path, flags))
AT_PATH(mkdirat, NEEDS_SPACE, (int dir, const char *path, mode_t bits), (int, const char *, mode_t), (dir, path, bits))
AT_PATH(fchmodat, PLAIN, (int dir, const char *path, mode_t bits, int flags), (int, const char *, mode_t, int),
        (dir, path, bits, flags))
AT_PATH(utimensat, PLAIN, (int dir, const char *path, const struct timespec times[2], int flags),
        (int, const char *, const struct timespec[2], int), (dir, path, times, flags))

/* Two paths: the destination says where the change lands. */
#define TWO_PATHS(name, kind) \
    int name(const char *from, const char *path) { \
        REAL(int, name, const char *, const char *); \
        if (watched_at(AT_FDCWD, path) && step(#name, path, -1, kind, 0) < 0) return -1; \
        return real(from, path); \
    }
TWO_PATHS(rename, PLAIN)
TWO_PATHS(link, NEEDS_SPACE)
TWO_PATHS(symlink, NEEDS_SPACE)

int renameat(int from_dir, const char *from, int dir, const char *path) {
    REAL(int, renameat, int, const char *, int, const char *);
    if (watched_at(dir, path) && step("renameat", path, -1, PLAIN, 0) < 0) return -1;
    return real(from_dir, from, dir, path);
}

int renameat2(int from_dir, const char *from, int dir, const char *path, unsigned int flags) {
    REAL(int, renameat2, int, const char *, int, const char *, unsigned int);
    if (watched_at(dir, path) && step("renameat2", path, -1, PLAIN, 0) < 0) return -1;
    return real(from_dir, from, dir, path, flags);
}

int linkat(int from_dir, const char *from, int dir, const char *path, int flags) {
    REAL(int, linkat, int, const char *, int, const char *, int);
    if (watched_at(dir, path) && step("linkat", path, -1, NEEDS_SPACE, 0) < 0) return -1;
    return real(from_dir, from, dir, path, flags);
}

int symlinkat(const char *from, int dir, const char *path) {
    REAL(int, symlinkat, const char *, int, const char *);
    if (watched_at(dir, path) && step("symlinkat", path, -1, NEEDS_SPACE, 0) < 0) return -1;
    return real(from, dir, path);
}

#define COPY(name, types, parameters, arguments) \
    ssize_t name parameters { \
        static ssize_t (*real) types; \
        if (!real) real = (ssize_t(*) types)next(#name); \
        if (watched_fd(fd) && step(#name, NULL, fd, NEEDS_SPACE, 0) < 0) return -1; \
        return real arguments; \
    }
COPY(sendfile, (int, int, off_t *, size_t), (int fd, int from, off_t *offset, size_t size), (fd, from, offset, size))
COPY(sendfile64, (int, int, off64_t *, size_t), (int fd, int from, off64_t *offset, size_t size), (fd, from, offset, size))
COPY(copy_file_range, (int, off64_t *, int, off64_t *, size_t, unsigned int),
     (int from, off64_t *from_offset, int fd, off64_t *offset, size_t size, unsigned int flags),
     (from, from_offset, fd, offset, size, flags))
