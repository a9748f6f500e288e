// An entry is a file whose name is the key: a header of 40 bytes and the code. What was used last is told by the time
// of the file, which a hit renews.
#include "base/kernel_cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/status.h"
#include "base/vec.h"

static const char magic[8] = {(char)0x89, 'H', 'D', 'L', 'K', 'E', 'R', '1'};

typedef struct entry_header {
  char magic[sizeof magic];
  uint64_t key[2];
  uint64_t bytes, checksum;
} entry_header;

enum { NAME_DIGITS = 32, STALE_SECONDS = 3600 };

static const int64_t default_bytes = (int64_t)256 << 20;

static const char *folder(void) {
  const char *path = getenv("HEDDLE_CACHE");
  return path && path[0] ? path : NULL;
}

static int64_t most_bytes(void) {
  const char *given = getenv("HEDDLE_CACHE_BYTES");
  char *end;
  const long long bytes = given ? strtoll(given, &end, 10) : 0;
  return given && end != given && *end == 0 && bytes >= 0 ? bytes : default_bytes;
}

bool kernel_cache_is_on(void) { return folder() != NULL; }

// --- keys

// Which build this is: the file that the code lies in, and when it was made.
static void add_build(text *t) {
  Dl_info where;
  struct stat info;
  if (!dladdr((const void *)kernel_cache_key_of, &where) || !where.dli_fname || stat(where.dli_fname, &info) != 0) {
    text_printf(t, "unknown build %d\n", (int)getpid());
    return;
  }
  text_printf(t, "build %" PRId64 " %" PRId64 ".%09ld\n", (int64_t)info.st_size, (int64_t)info.st_mtim.tv_sec,
              info.st_mtim.tv_nsec);
}

kernel_cache_key kernel_cache_key_of(str made_of) {
  text t = {0};
  add_build(&t);
  text_append(&t, made_of);
  kernel_cache_key key;
  key.parts[0] = checksum_of(t.data, t.size);
  // Another number of the same bytes: what lies in front of them shifts them among the checksum's lanes.
  text again = {0};
  text_puts(&again, "second part of the key\n");
  text_append(&again, text_view(&t));
  key.parts[1] = checksum_of(again.data, again.size);
  text_free(&t);
  text_free(&again);
  return key;
}

static const char *entry_path(arena *a, const kernel_cache_key *key) {
  return arena_printf(a, "%s/%016" PRIx64 "%016" PRIx64, folder(), key->parts[0], key->parts[1]);
}

// --- entries

static bool is_whole(str file, const kernel_cache_key *key, entry_header *h) {
  if (file.size < sizeof *h) return false;
  memcpy(h, file.data, sizeof *h);
  return memcmp(h->magic, magic, sizeof magic) == 0 && memcmp(h->key, key->parts, sizeof h->key) == 0 &&
         h->bytes == file.size - sizeof *h && h->checksum == checksum_of(file.data + sizeof *h, h->bytes);
}

bool kernel_cache_find(arena *a, const kernel_cache_key *key, str *code) {
  entry_header h;
  str file = STR("");
  const char *path = entry_path(a, key);
  // What is no file, such as a pipe that nobody writes to, would be waited for.
  if (!file_is_regular(path)) return false;
  heddle_status s = file_read(a, path, &file);
  const bool is_read = status_is_ok(s);
  heddle_status_free(s);
  if (!is_read) return false;
  if (!is_whole(file, key, &h)) {
    (void)unlink(path);
    return false;
  }
  (void)utimensat(AT_FDCWD, path, NULL, 0);
  *code = (str){file.data + sizeof h, h.bytes};
  return true;
}

// --- the folder's size

typedef struct found_file {
  char *path;
  int64_t bytes;
  struct timespec used;
} found_file;

typedef VEC(found_file) file_list;

// What a process that was killed has left of an entry that it was writing.
static bool is_stale(const char *name, const struct stat *info) {
  return strlen(name) > NAME_DIGITS && name[NAME_DIGITS] == '.' && time(NULL) - info->st_mtim.tv_sec > STALE_SECONDS;
}

typedef struct listing {
  arena *arena;
  DIR *folder;
  file_list files;
  int64_t bytes;
} listing;

static heddle_status list_files(void *argument) {
  listing *l = argument;
  l->folder = opendir(folder());
  for (const struct dirent *d = l->folder ? readdir(l->folder) : NULL; d; d = readdir(l->folder)) {
    struct stat info;
    char *path = arena_printf(l->arena, "%s/%s", folder(), d->d_name);
    if (strspn(d->d_name, "0123456789abcdef") < NAME_DIGITS || stat(path, &info) != 0) continue;
    if (is_stale(d->d_name, &info)) (void)unlink(path);
    if (d->d_name[NAME_DIGITS]) continue;
    vec_push(l->arena, &l->files, ((found_file){path, info.st_size, info.st_mtim}));
    l->bytes += info.st_size;
  }
  return status_ok();
}

static void close_folder(void *argument, bool is_torn) {
  const listing *l = argument;
  (void)is_torn;
  if (l->folder) (void)closedir(l->folder);
}

static int longest_ago_first(const void *l, const void *r) {
  const struct timespec *a = &((const found_file *)l)->used, *b = &((const found_file *)r)->used;
  if (a->tv_sec != b->tv_sec) return a->tv_sec < b->tv_sec ? -1 : 1;
  return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

// For an entry that comes. Processes that write at the same time do not see what others are about to, for which an
// eighth is left; a quarter is left free when something has to go, so that not every entry has the folder read.
static void make_room(int64_t coming) {
  listing l = {.arena = arena_create()};
  heddle_status_free(guard_clean_up(list_files, close_folder, &l));  // fails by ending the call's guard alone
  close_folder(&l, false);
  const int64_t most = most_bytes();
  int64_t bytes = l.bytes + coming;
  if (bytes > most / 8 * 7 && l.files.data) {
    qsort(l.files.data, (size_t)l.files.size, sizeof *l.files.data, longest_ago_first);
    for (int k = 0; k < l.files.size && bytes > most / 4 * 3; k++) {
      (void)unlink(l.files.data[k].path);
      bytes -= l.files.data[k].bytes;
    }
  }
  arena_destroy(l.arena);
}

// Written since this process has last looked at the folder.
static _Atomic int64_t written = INT64_MAX;

// False for what is larger than all may be together.
static bool take_room(int64_t bytes) {
  const int64_t most = most_bytes();
  if (bytes > most) return false;
  if (bytes < most / 64 - written) {
    written += bytes;
    return true;
  }
  make_room(bytes);
  written = 0;
  return true;
}

void kernel_cache_keep(const kernel_cache_key *key, str code) {
  if (!take_room((int64_t)(sizeof(entry_header) + code.size))) return;
  arena *a = arena_create();
  entry_header h = {
      .key = {key->parts[0], key->parts[1]}, .bytes = code.size, .checksum = checksum_of(code.data, code.size)};
  memcpy(h.magic, magic, sizeof magic);
  const str parts[] = {{(const char *)&h, sizeof h}, code};
  heddle_status s = file_make_folder(folder());
  if (status_is_ok(s)) s = file_write_parts(entry_path(a, key), 2, parts);
  heddle_status_free(s);
  arena_destroy(a);
}
