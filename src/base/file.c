// Whole files in and out. Reading grows a heap buffer rather than asking for the size first, so that pipes and /proc
// work like files; writing goes through a temporary neighbour, so that a reader sees the old contents or the new.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/call.h"

static heddle_status fail(const char *what, const char *path) {
  int error = errno;
  heddle_code code = error == ENOMEM ? HEDDLE_OUT_OF_MEMORY : HEDDLE_INVALID;
  return status_error(code, "cannot %s '%s': %s", what, path, strerror(error));
}

enum { WAIT_MILLISECONDS = 100 };

// A terminal or a pipe may have nothing for long: a call that can be cancelled looks up meanwhile. -1 with errno.
static ssize_t read_some(int file, void *to, size_t size) {
  struct pollfd wanted = {.fd = file, .events = POLLIN};
  while (call_can_end() && poll(&wanted, 1, WAIT_MILLISECONDS) == 0)
    if (call_is_over()) break;
  if (call_is_over()) {
    errno = ECANCELED;
    return -1;
  }
  ssize_t got;
  do got = read(file, to, size);
  while (got < 0 && errno == EINTR && !call_is_over());
  return got;
}

// Null, with errno, where something has failed.
static char *read_all(int file, size_t *size) {
  size_t capacity = 64 << 10;
  char *data = malloc(capacity);
  *size = 0;
  while (data) {
    const ssize_t got = read_some(file, data + *size, capacity - *size);
    if (got == 0) return data;
    char *larger = data;
    if (got > 0 && (*size += (size_t)got) == capacity) larger = realloc(data, capacity *= 2);
    if (got < 0 || !larger) {
      const int error = errno;
      free(data);
      errno = error;
      return NULL;
    }
    data = larger;
  }
  return NULL;
}

static heddle_status read_file(arena *a, int file, const char *path, str *out) {
  size_t size;
  char *data = read_all(file, &size);
  if (!data) return errno == ECANCELED ? call_cancelled() : fail("read", path);
  char *copy = arena_try_alloc(a, size + 1);
  if (copy) memcpy(copy, data, size);
  free(data);
  if (!copy) return status_error(HEDDLE_OUT_OF_MEMORY, "cannot read '%s': out of memory", path);
  *out = (str){copy, size};
  return status_ok();
}

heddle_status file_read(arena *a, const char *path, str *out) {
  if (strcmp(path, "-") == 0) return read_file(a, STDIN_FILENO, "standard input", out);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail("read", path);
  heddle_status status = read_file(a, file, path, out);
  close(file);
  return status;
}

static bool write_stream(FILE *stream, int count, const str *parts) {
  bool written = true;
  for (int k = 0; k < count && written; k++) written = fwrite(parts[k].data, 1, parts[k].size, stream) == parts[k].size;
  return fflush(stream) == 0 && written;
}

enum { NAMES_TRIED = 100 };

// A new file whose name begins with `path`; -1 with errno. The process's umask is the kernel's to apply: asking for it
// would change it for the other threads.
static int create_neighbour(const char *path, char **name) {
  for (int i = 0; i < NAMES_TRIED; i++) {
    uint32_t number = 0;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) < 0) number = (uint32_t)getpid() + (uint32_t)i;
    if (asprintf(name, "%s.%06x", path, number & 0xffffff) < 0) {
      *name = NULL;
      return -1;
    }
    const int descriptor = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
    free(*name);
  }
  *name = NULL;
  return -1;
}

// A new file beside `path`, opened for writing; its name, which the caller frees, goes to `*name`.
static FILE *open_neighbour(const char *path, char **name) {
  const int descriptor = create_neighbour(path, name);
  FILE *stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
  if (descriptor >= 0 && !stream) {
    close(descriptor);
    unlink(*name);
  }
  return stream;
}

// Devices and pipes (/dev/null, /dev/stdout) are written in place: renaming over them would replace them.
static bool is_special(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static heddle_status write_in_place(const char *path, int count, const str *parts) {
  FILE *stream = fopen(path, "wb");
  if (!stream) return fail("write", path);
  bool written = write_stream(stream, count, parts);
  heddle_status status = written ? status_ok() : fail("write", path);
  fclose(stream);
  return status;
}

heddle_status file_write(const char *path, str contents) { return file_write_parts(path, 1, &contents); }

heddle_status file_write_parts(const char *path, int count, const str *parts) {
  if (strcmp(path, "-") == 0)
    return write_stream(stdout, count, parts) ? status_ok() : fail("write", "standard output");
  if (is_special(path)) return write_in_place(path, count, parts);
  char *name = NULL;
  FILE *stream = open_neighbour(path, &name);
  if (!stream) {
    heddle_status status = fail("write", path);
    free(name);
    return status;
  }
  bool done = write_stream(stream, count, parts);
  done = fclose(stream) == 0 && done;
  done = done && rename(name, path) == 0;
  heddle_status status = done ? status_ok() : fail("write", path);
  if (!done) unlink(name);
  free(name);
  return status;
}

// --- as memory

heddle_status file_map_copy(str bytes, str *out) {
  const size_t size = bytes.size ? bytes.size : 1;
  *out = (str){NULL, 0};
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for %zu bytes", bytes.size);
  if (bytes.size) memcpy(memory, bytes.data, bytes.size);
  (void)mprotect(memory, size, PROT_READ);
  *out = (str){memory, bytes.size};
  return status_ok();
}

static heddle_status read_and_copy(int file, const char *path, str *out) {
  size_t size;
  char *data = read_all(file, &size);
  if (!data) return errno == ECANCELED ? call_cancelled() : fail("read", path);
  heddle_status s = file_map_copy((str){data, size}, out);
  free(data);
  return s;
}

// A pipe is read where it was opened: what has been written to it is gone for whoever opens it again.
heddle_status file_map(const char *path, str *out) {
  struct stat info;
  *out = (str){NULL, 0};
  if (strcmp(path, "-") == 0) return read_and_copy(STDIN_FILENO, "standard input", out);
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail("read", path);
  const bool is_regular = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
  void *memory = is_regular ? mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  heddle_status s = memory == MAP_FAILED ? read_and_copy(descriptor, path, out) : status_ok();
  if (memory != MAP_FAILED) *out = (str){memory, (size_t)info.st_size};
  close(descriptor);
  return s;
}

void file_unmap(str bytes) {
  if (bytes.data) munmap((void *)(uintptr_t)bytes.data, bytes.size ? bytes.size : 1);
}

bool file_is_regular(const char *path) {
  struct stat info;
  return strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

heddle_status file_make_folder(const char *path) {
  char *prefix = strdup(path);
  if (!prefix) return status_error(HEDDLE_OUT_OF_MEMORY, "cannot make folder '%s': out of memory", path);
  bool made = true;
  for (char *p = prefix + 1; made && p[-1]; p++) {
    if (*p != '/' && *p) continue;
    char after = *p;
    *p = 0;
    struct stat info;
    made = mkdir(prefix, 0777) == 0 || (errno == EEXIST && stat(prefix, &info) == 0 && S_ISDIR(info.st_mode));
    *p = after;
  }
  heddle_status status = made ? status_ok() : fail("make folder", path);
  free(prefix);
  return status;
}
