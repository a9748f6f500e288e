// Whole files in and out. Reading grows a heap buffer rather than asking for the size first, so that pipes and /proc
// work like files; writing goes through a temporary neighbour, so that a reader sees the old contents or the new.
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static heddle_status fail(const char *what, const char *path) {
  int error = errno;
  heddle_code code = error == ENOMEM ? HEDDLE_OUT_OF_MEMORY : HEDDLE_INVALID;
  return status_error(code, "cannot %s '%s': %s", what, path, strerror(error));
}

static heddle_status read_stream(arena *a, FILE *stream, const char *path, str *out) {
  size_t size = 0, capacity = 64 << 10;
  char *data = malloc(capacity);
  while (data) {
    size += fread(data + size, 1, capacity - size, stream);
    if (size < capacity) break;
    capacity *= 2;
    char *larger = realloc(data, capacity);
    if (!larger) free(data);
    data = larger;
  }
  if (!data) return status_error(HEDDLE_OUT_OF_MEMORY, "cannot read '%s': out of memory", path);
  char *copy = ferror(stream) ? NULL : arena_try_alloc(a, size + 1);
  if (copy) memcpy(copy, data, size);
  free(data);
  if (ferror(stream)) return fail("read", path);
  if (!copy) return status_error(HEDDLE_OUT_OF_MEMORY, "cannot read '%s': out of memory", path);
  *out = (str){copy, size};
  return status_ok();
}

heddle_status file_read(arena *a, const char *path, str *out) {
  if (strcmp(path, "-") == 0) return read_stream(a, stdin, "standard input", out);
  FILE *stream = fopen(path, "rb");
  if (!stream) return fail("read", path);
  heddle_status status = read_stream(a, stream, path, out);
  fclose(stream);
  return status;
}

static bool write_stream(FILE *stream, str contents) {
  bool written = fwrite(contents.data, 1, contents.size, stream) == contents.size;
  return fflush(stream) == 0 && written;
}

// A new file beside `path`, opened for writing; its name, which the caller frees, goes to `*name`.
static FILE *open_neighbour(const char *path, char **name) {
  if (asprintf(name, "%s.XXXXXX", path) < 0) {
    *name = NULL;
    return NULL;
  }
  int descriptor = mkstemp(*name);
  if (descriptor < 0) return NULL;
  mode_t mask = umask(0);
  umask(mask);
  FILE *stream = fchmod(descriptor, 0666 & ~mask) == 0 ? fdopen(descriptor, "wb") : NULL;
  if (!stream) {
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

static heddle_status write_in_place(const char *path, str contents) {
  FILE *stream = fopen(path, "wb");
  if (!stream) return fail("write", path);
  bool written = write_stream(stream, contents);
  heddle_status status = written ? status_ok() : fail("write", path);
  fclose(stream);
  return status;
}

heddle_status file_write(const char *path, str contents) {
  if (strcmp(path, "-") == 0) return write_stream(stdout, contents) ? status_ok() : fail("write", "standard output");
  if (is_special(path)) return write_in_place(path, contents);
  char *name = NULL;
  FILE *stream = open_neighbour(path, &name);
  if (!stream) {
    heddle_status status = fail("write", path);
    free(name);
    return status;
  }
  bool done = write_stream(stream, contents);
  done = fclose(stream) == 0 && done;
  done = done && rename(name, path) == 0;
  heddle_status status = done ? status_ok() : fail("write", path);
  if (!done) unlink(name);
  free(name);
  return status;
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
