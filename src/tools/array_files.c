// An archive is a zip file, which libzip reads. It comes from outside, so that the sizes it states are believed only as
// far as the array that is wanted goes, and nothing is taken before its bytes are there.
#include "tools/array_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <zip.h>

#include "base/file.h"
#include "hlo/npy.h"
#include "kernel/sizes.h"

static const str suffix = {".npy", 4};

static bool ends_with(str s, str end) {
  return s.size >= end.size && memcmp(s.data + s.size - end.size, end.data, end.size) == 0;
}

// --- folders

static bool is_named_as_result(str name) { return str_starts_with(name, "out") || str_starts_with(name, "expected"); }

static heddle_status list_folder(arena *a, array_files_kind kind, array_files *out) {
  DIR *folder = opendir(out->path);
  if (!folder) return status_error(HEDDLE_INVALID, "cannot read '%s': %s", out->path, strerror(errno));
  for (const struct dirent *entry; (entry = readdir(folder));) {
    str name = str_from(entry->d_name);
    if (!ends_with(name, suffix) || is_named_as_result(name) != (kind == ARRAY_FILES_RESULTS)) continue;
    vec_push(a, &out->names, str_copy(a, (str){name.data, name.size - suffix.size}));
  }
  closedir(folder);
  return status_ok();
}

// --- archives

// `what` was to be done with the file.
static heddle_status open_archive(const char *path, int mode, const char *what, zip_t **out) {
  int code;
  *out = zip_open(path, mode, &code);
  if (*out) return status_ok();
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  heddle_status s = status_error(HEDDLE_INVALID, "cannot %s '%s' as a folder or a NumPy archive: %s", what, path,
                                 zip_error_strerror(&error));
  zip_error_fini(&error);
  return s;
}

static heddle_status list_members(arena *a, zip_t *archive, array_files *out) {
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; i++) {
    const char *text = zip_get_name(archive, (zip_uint64_t)i, 0);
    str name = str_from(text ? text : "");
    if (!ends_with(name, suffix))
      return status_error(HEDDLE_INVALID, "found '" STR_FMT "' in '%s', wanted .npy files only", STR_ARG(name),
                          out->path);
    vec_push(a, &out->names, str_copy(a, (str){name.data, name.size - suffix.size}));
  }
  return status_ok();
}

// What a header may take beside the elements.
enum { HEADER_MAX = 1 << 20, CHUNK = 1 << 16 };

static heddle_status read_stream(zip_file_t *stream, const char *label, size_t most, text *out) {
  static const char too_long[] = "'%s' is longer than the array that is wanted";
  char chunk[CHUNK];
  for (;;) {
    const zip_int64_t got = zip_fread(stream, chunk, sizeof chunk);
    if (got < 0) return status_error(HEDDLE_INVALID, "cannot read '%s': %s", label, zip_file_strerror(stream));
    if (got == 0) return status_ok();
    text_append(out, (str){chunk, (size_t)got});
    if (out->size > most) return status_error(HEDDLE_INVALID, too_long, label);
  }
}

// Of open dims only the limit of all arrays is known.
static size_t most_bytes(const shape *wanted) {
  if (!shape_is_static(wanted)) return ((size_t)1 << KERNEL_MOST_ARRAY_BYTES_LOG2) + HEADER_MAX;
  return (size_t)shape_byte_size(wanted) + HEADER_MAX;
}

static heddle_status read_member(arena *a, zip_t *archive, const char *member, const char *label, const shape *wanted,
                                 literal **out) {
  zip_file_t *stream = zip_fopen(archive, member, 0);
  if (!stream) return status_error(HEDDLE_INVALID, "cannot read '%s': %s", label, zip_strerror(archive));
  text bytes = {0};
  heddle_status s = read_stream(stream, label, most_bytes(wanted), &bytes);
  zip_fclose(stream);
  if (status_is_ok(s)) s = npy_parse(a, label, text_view(&bytes), wanted, out);
  text_free(&bytes);
  return s;
}

// --- the list

static int compare_names(const void *l, const void *r) {
  const str *x = l, *y = r;
  const int order = memcmp(x->data, y->data, x->size < y->size ? x->size : y->size);
  return order ? order : (x->size > y->size) - (x->size < y->size);
}

heddle_status array_files_open(arena *a, const char *path, array_files_kind kind, array_files *out) {
  struct stat is;
  *out = (array_files){.path = path};
  if (stat(path, &is) != 0) return status_error(HEDDLE_INVALID, "cannot read '%s': %s", path, strerror(errno));
  if (S_ISDIR(is.st_mode)) {
    TRY(list_folder(a, kind, out));
  } else {
    TRY(open_archive(path, ZIP_RDONLY, "read", &out->archive));
    heddle_status s = list_members(a, out->archive, out);
    if (!status_is_ok(s)) array_files_close(out);
    TRY(s);
  }
  if (out->names.size) qsort(out->names.data, (size_t)out->names.size, sizeof(str), compare_names);
  return status_ok();
}

void array_files_close(array_files *files) {
  if (files->archive) zip_discard(files->archive);
  files->archive = NULL;
}

heddle_status array_files_read(const array_files *files, arena *a, int number, const shape *wanted, literal **out) {
  const str name = files->names.data[number];
  const char *label = arena_printf(a, "%s/" STR_FMT ".npy", files->path, STR_ARG(name));
  if (!files->archive) return npy_read(a, label, wanted, out);
  return read_member(a, files->archive, arena_printf(a, STR_FMT ".npy", STR_ARG(name)), label, wanted, out);
}

// --- matching

enum { DIGITS_MAX = 9 };

// The number at the end of a name; -1 for none.
static int number_of(str name) {
  size_t start = name.size;
  while (start > 0 && isdigit((unsigned char)name.data[start - 1])) start--;
  if (start == name.size || name.size - start > DIGITS_MAX) return -1;
  int number = 0;
  for (size_t i = start; i < name.size; i++) number = 10 * number + (name.data[i] - '0');
  return number;
}

static bool is_same(str l, str r) { return l.size == r.size && memcmp(l.data, r.data, l.size) == 0; }

// `x` of `x.1`.
static str without_number(str name) {
  size_t end = name.size;
  while (end > 0 && isdigit((unsigned char)name.data[end - 1])) end--;
  return end > 1 && end < name.size && name.data[end - 1] == '.' ? (str){name.data, end - 1} : name;
}

static int find_name(const array_files *files, str name) {
  for (int i = 0; i < files->names.size; i++)
    if (is_same(files->names.data[i], name)) return i;
  return -1;
}

// order[i] is the file of parameter i or -1; the number of files found.
static int match_names(const array_files *files, int count, const str *names, bool *is_taken, int *order) {
  int found = 0;
  for (int i = 0; i < count; i++) {
    int file = find_name(files, names[i]);
    if (file < 0) file = find_name(files, without_number(names[i]));
    order[i] = file >= 0 && !is_taken[file] ? file : -1;
    if (order[i] < 0) continue;
    is_taken[file] = true;
    found++;
  }
  return found;
}

static heddle_status match_numbers(const array_files *files, int *order) {
  const int count = files->names.size;
  for (int i = 0; i < count; i++) order[i] = -1;
  for (int i = 0; i < count; i++) {
    const str name = files->names.data[i];
    const int number = number_of(name) < 0 && count == 1 ? 0 : number_of(name);
    if (number < 0)
      return status_error(HEDDLE_INVALID, "'" STR_FMT ".npy' in '%s' has no parameter's name and no number at its end",
                          STR_ARG(name), files->path);
    if (number >= count) continue;  // then another one is missing
    if (order[number] >= 0)
      return status_error(HEDDLE_INVALID, "'" STR_FMT ".npy' and '" STR_FMT ".npy' in '%s' have the same number",
                          STR_ARG(files->names.data[order[number]]), STR_ARG(name), files->path);
    order[number] = i;
  }
  for (int i = 0; i < count; i++)
    if (order[i] < 0)
      return status_error(HEDDLE_INVALID, "found %d .npy files in '%s', none of them with number %d", count,
                          files->path, i);
  return status_ok();
}

// Of files that are named after parameters, but not one for one.
static heddle_status explain_names(const array_files *files, int count, const str *names, const bool *is_taken,
                                   const int *order) {
  for (int i = 0; i < count; i++)
    if (order[i] < 0)
      return status_error(HEDDLE_INVALID, "found no file in '%s' for parameter %d, " STR_FMT, files->path, i,
                          STR_ARG(names[i]));
  for (int i = 0; i < files->names.size; i++)
    if (!is_taken[i])
      return status_error(HEDDLE_INVALID, "'" STR_FMT ".npy' in '%s' has no parameter's name",
                          STR_ARG(files->names.data[i]), files->path);
  return status_error(HEDDLE_INTERNAL, "the files of '%s' match", files->path);
}

heddle_status array_files_match(arena *a, array_files *files, int count, const str *names) {
  const int files_count = files->names.size;
  int *order = arena_array(a, int, files_count > count ? files_count : count);
  bool *is_taken = arena_array(a, bool, files_count);
  const int found = match_names(files, count, names, is_taken, order);
  if (found == 0 || found < count || found < files_count) {
    int *by_number = arena_array(a, int, files_count);
    heddle_status s = match_numbers(files, by_number);
    if (!status_is_ok(s) && found > 0) {
      heddle_status_free(s);
      return explain_names(files, count, names, is_taken, order);
    }
    TRY(s);
    order = by_number;
  }
  str *sorted = arena_array(a, str, files_count);
  for (int i = 0; i < files_count; i++) sorted[i] = files->names.data[order[i]];
  if (files_count) memcpy(files->names.data, sorted, (size_t)files_count * sizeof *sorted);
  return status_ok();
}

// --- writing

static heddle_status write_to_folder(arena *a, const char *path, int count, literal *const *arrays) {
  TRY(file_make_folder(path));
  for (int i = 0; i < count; i++) TRY(npy_write(arena_printf(a, "%s/output_%d.npy", path, i), arrays[i]));
  return status_ok();
}

// NumPy's own archives are not compressed either. The bytes must stay until the archive is closed.
static heddle_status add_member(zip_t *archive, const char *path, const char *member, const text *bytes) {
  zip_source_t *source = zip_source_buffer(archive, bytes->data, bytes->size, 0);
  const zip_int64_t at = source ? zip_file_add(archive, member, source, ZIP_FL_ENC_UTF_8) : -1;
  if (source && at < 0) zip_source_free(source);
  if (at < 0 || zip_set_file_compression(archive, (zip_uint64_t)at, ZIP_CM_STORE, 0) != 0)
    return status_error(HEDDLE_INVALID, "cannot write '%s' to '%s': %s", member, path, zip_strerror(archive));
  return status_ok();
}

static heddle_status add_members(arena *a, zip_t *archive, const char *path, int count, literal *const *arrays,
                                 text *bytes) {
  for (int i = 0; i < count; i++) {
    TRY(npy_print(&bytes[i], path, arrays[i]));
    TRY(add_member(archive, path, arena_printf(a, "output_%d.npy", i), &bytes[i]));
  }
  return status_ok();
}

// libzip writes beside the file and renames.
static heddle_status write_archive(arena *a, const char *path, int count, literal *const *arrays) {
  zip_t *archive;
  TRY(open_archive(path, ZIP_CREATE | ZIP_TRUNCATE, "write", &archive));
  text *bytes = arena_array(a, text, count);
  heddle_status s = add_members(a, archive, path, count, arrays, bytes);
  if (!status_is_ok(s)) {
    zip_discard(archive);
  } else if (zip_close(archive) != 0) {
    s = status_error(HEDDLE_INVALID, "cannot write '%s': %s", path, zip_strerror(archive));
    zip_discard(archive);
  }
  for (int i = 0; i < count; i++) text_free(&bytes[i]);
  return s;
}

heddle_status array_files_write(const char *path, int count, literal *const *arrays) {
  arena *a = arena_create();
  heddle_status s = ends_with(str_from(path), STR(".npz")) ? write_archive(a, path, count, arrays)
                                                           : write_to_folder(a, path, count, arrays);
  arena_destroy(a);
  return s;
}
