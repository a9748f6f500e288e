// heddle doctor: what this machine offers a program, and what is missing.
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/call.h"
#include "base/cpu_level.h"
#include "base/json.h"
#include "base/pool.h"
#include "heddle/version.h"
#include "kernel/sizes.h"
#include "rt/device_types.h"
#include "rt/hardware_counters.h"
#include "rt/machine_limits.h"
#include "tools/commands.h"
#include "tools/flags.h"

typedef struct doctor_flags {
  bool json, no_limits;
  int threads;
} doctor_flags;

// Where a fact is said: as a line of text under a title, or as a member of an object.
typedef struct report {
  bool json;
  json_writer out;
} report;

static void begin_part(report *r, const char *title) {
  if (r->json) json_begin(&r->out, title, '{');
  else text_printf(r->out.out, "%s\n", title);
}

static void end_part(report *r) {
  if (r->json) json_end(&r->out, '}');
}

static void say(report *r, const char *name, const char *value) {
  if (r->json) json_put_string(&r->out, name, str_from(value));
  else text_printf(r->out.out, "  %-22s %s\n", name, value);
}

// `shown` is the figure with its unit, for text.
static void say_number(report *r, const char *name, double value, const char *shown) {
  if (r->json) json_put_number(&r->out, name, value);
  else text_printf(r->out.out, "  %-22s %s\n", name, shown);
}

// --- what is asked

static const char *best_level(void) {
  for (int k = CPU_LEVEL_COUNT - 1; k > CPU_LEVEL_NATIVE; k--)
    if (cpu_level_runs((cpu_level)k)) return cpu_levels[k].name;
  return "below x86-64-v2";
}

static void tell_machine(arena *a, report *r) {
  struct sysinfo info = {0};
  sysinfo(&info);
  const double memory = (double)info.totalram * info.mem_unit;
  begin_part(r, "machine");
  say(r, "cpu", machine_limits_cpu(a));
  say_number(r, "cores", pool_default_threads(),
             arena_printf(a, "%d that this process may use", pool_default_threads()));
  say(r, "instruction set", best_level());
  say_number(r, "memory", memory, arena_printf(a, "%.1f GiB", memory / 0x1p30));
  hardware_counters *counters;
  heddle_status s = hardware_counters_open(&counters);
  say(r, "hardware counters", status_is_ok(s) ? "yes" : status_brief(s));
  heddle_status_free(s);
  hardware_counters_close(counters);
  end_part(r);
}

static void tell_limits(arena *a, report *r, const doctor_flags *f) {
  begin_part(r, "limits");
  if (!f->no_limits) {
    const int threads = f->threads > 0 ? f->threads : pool_default_threads();
    const machine_limits m = machine_limits_get(threads);
    const char *path = machine_limits_path(a, threads);
    say_number(r, "threads", threads, arena_printf(a, "%d", threads));
    say_number(r, "bytes_per_second", m.bytes_per_second,
               arena_printf(a, "%.1f GB/s of a copy", m.bytes_per_second * 1e-9));
    say_number(r, "flops", m.flops, arena_printf(a, "%.1f GFLOP/s in f32", m.flops * 1e-9));
    say(r, "kept in", path ? path : "nothing: neither XDG_CACHE_HOME nor HOME is set");
    say(r, "measured", m.was_kept ? "before" : "now");
  }
  say(r, "largest array", arena_printf(a, "2^%d bytes", KERNEL_MOST_ARRAY_BYTES_LOG2));
  say(r, "largest program", arena_printf(a, "2^%d bytes", KERNEL_MOST_BYTES_LOG2));
  end_part(r);
}

// What compiled programs and the compiler stand on, and what GPUs would need.
static const struct library {
  const char *file, *purpose;
} libraries[] = {
    {"libMLIR.so.19.1", "the compiler"},
    {"libLLVM.so.19.1", "the compiler"},
    {"libdnnl.so.2", "products and convolutions"},
    {"libopenblas.so.0", "products of other types"},
    {"libfftw3.so.3", "Fourier transforms of f64"},
    {"libfftw3f.so.3", "Fourier transforms of f32"},
    {"liblapacke.so.3", "linear algebra"},
    {"libgomp.so.1", "oneDNN's and OpenBLAS' threads"},
    {"libcuda.so.1", "NVIDIA's GPUs"},
    {"libvulkan.so.1", "Vulkan"},
};

static const char *describe_library(arena *a, const struct library *l) {
  void *handle = dlopen(l->file, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return arena_printf(a, "missing (%s)", l->purpose);
  struct link_map *map = NULL;
  const bool is_known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map;
  // It stays: some libraries lose memory when they are taken away.
  return arena_printf(a, "%s (%s)", is_known ? map->l_name : "found", l->purpose);
}

static void tell_libraries(arena *a, report *r) {
  begin_part(r, "libraries");
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    say(r, libraries[i].file, describe_library(a, &libraries[i]));
  end_part(r);
}

// What there is of a platform, or why there is nothing.
static void tell_platform(arena *a, report *r, target_kind kind) {
  text found = {0};
  heddle_status s = device_types_list(kind, &found);
  const str all = text_view(&found);
  char *line = arena_strdup(a, all.data, all.size > 0 ? all.size - 1 : 0);
  for (char *c = line; *c; c++)
    if (*c == '\n') *c = ',';
  say(r, target_kind_name(kind), status_is_ok(s) ? line : status_brief(s));
  heddle_status_free(s);
  text_free(&found);
}

static void tell_devices(arena *a, report *r) {
  int gpus = 0;
  while (gpus < 64 && access(arena_printf(a, "/dev/nvidia%d", gpus), F_OK) == 0) gpus++;
  begin_part(r, "devices");
  say(r, "cpu", "programs are compiled for it and run on it");
  say(r, "simulator", "kernels for GPUs are executed on the CPU, to check them");
  say_number(r, "nvidia", gpus, arena_printf(a, "%d found (/dev/nvidia*)", gpus));
  tell_platform(a, r, TARGET_VULKAN);
  end_part(r);
}

static void tell_features(report *r) {
  if (r->json) json_begin(&r->out, "features", '[');
  else text_puts(r->out.out, "features\n ");
  for (int i = 0; heddle_feature(i); i++) {
    if (r->json) json_put_string(&r->out, NULL, str_from(heddle_feature(i)));
    else text_printf(r->out.out, " %s", heddle_feature(i));
  }
  if (r->json) json_end(&r->out, ']');
  else text_putc(r->out.out, '\n');
}

static heddle_status examine(arena *a, const char *file, void *argument) {
  (void)file;
  const doctor_flags *f = argument;
  text t = {0};
  report r = {.json = f->json, .out = {.out = &t}};
  if (f->json) {
    json_begin(&r.out, NULL, '{');
    json_put_string(&r.out, "version", str_from(heddle_version()));
  } else {
    text_printf(&t, "Heddle %s\n", heddle_version());
  }
  tell_machine(a, &r);
  tell_limits(a, &r, f);
  tell_libraries(a, &r);
  tell_devices(a, &r);
  tell_features(&r);
  if (f->json) json_end(&r.out, '}');
  heddle_status s = call_check();  // figures that were cut short are none
  if (status_is_ok(s)) fwrite(t.data, 1, t.size, stdout);
  text_free(&t);
  return s;
}

int command_doctor(int argc, char **argv) {
  doctor_flags f = {0};
  const flag flags[] = {
      {"json", FLAG_BOOL, &f.json, NULL, "print JSON"},
      {"no-limits", FLAG_BOOL, &f.no_limits, NULL, "do not measure what the machine can do"},
      {"threads", FLAG_THREADS, &f.threads, "N", "threads to measure it with (all cores)"},
      {0},
  };
  const command_line line = {"heddle doctor [flags]",
                             "Says what this machine offers: CPU, memory, libraries, devices, what it can do at most.",
                             flags, NULL};
  return command_line_main_no_file(&line, argc, argv, examine, &f);
}
