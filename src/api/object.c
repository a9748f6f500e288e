// The driver's code comes from the generator that the kernels' comes from; then all objects and the constants are
// merged.
#include "api/object.h"

#include <ctype.h>
#include <inttypes.h>

#include "api/object_code.h"
#include "base/cpu_features.h"
#include "heddle/version.h"
#include "link/elf_merge.h"
#include "prog/program_sizes.h"
#include "target/cpu.h"

// --- the header

// Types that C lacks are the unsigned integers of their width, complex numbers pairs of floats, packed ones bytes.
static const char *c_type(dtype t) {
  static const char *const integers[2][4] = {{"uint8_t", "uint16_t", "uint32_t", "uint64_t"},
                                             {"int8_t", "int16_t", "int32_t", "int64_t"}};
  const dtype_info *type = &dtypes[t];
  if (t == DTYPE_F32 || t == DTYPE_C64) return "float";
  if (t == DTYPE_F64 || t == DTYPE_C128) return "double";
  const int width = type->bytes == 1 ? 0 : type->bytes == 2 ? 1 : type->bytes == 4 ? 2 : 3;
  return integers[type->class == CLASS_SIGNED && type->bits >= 8][width];
}

// Names may hold anything; a comment ends where a line does.
static void print_name(text *out, const char *name) {
  for (const char *c = name; *c; c++) text_putc(out, iscntrl((unsigned char)*c) ? '?' : *c);
}

// Of a marked program.
static void print_numbers(text *out, const program *p, int count, const int64_t *numbers) {
  for (int k = 0; k < count; k++) {
    const int64_t *terms = object_code_terms(p, numbers[k]);
    if (k > 0) text_putc(out, ',');
    if (terms) program_sizes_print(out, &p->sizes, terms);
    else text_printf(out, "%" PRId64, numbers[k]);
  }
}

// What nothing reads or writes has no memory of its own.
static int64_t bytes_of(const program *p, program_allocation_kind kind, int number, const program_value *v) {
  for (int k = 0; k < p->allocation_count; k++)
    if (p->allocations[k].kind == kind && p->allocations[k].number == number) return p->allocations[k].bytes;
  return program_shape_packed_bytes(&v->shape);
}

static void describe(text *out, const program *p, program_allocation_kind kind, int number) {
  const bool is_result = kind == PROGRAM_RESULT;
  const program_value *v = is_result ? &p->results[number] : &p->parameters[number];
  const program_shape *s = &v->shape;
  const int64_t bytes = bytes_of(p, kind, number, v);
  text_printf(out, "//   %s%d: %s[", is_result ? "out" : "in", number, dtype_name(s->type));
  print_numbers(out, p, s->rank, s->dims);
  text_puts(out, "], ");
  print_numbers(out, p, 1, &bytes);
  text_puts(out, " bytes");
  if (!program_shape_is_plain(s)) {
    text_puts(out, dtypes[s->type].bits < 8 ? ", packed, minor to major {" : ", minor to major {");
    print_numbers(out, p, s->rank, s->minor_to_major);
    text_putc(out, '}');
  }
  if (v->name[0]) {
    text_puts(out, " (");
    print_name(out, v->name);
    text_putc(out, ')');
  }
  if (v->donated_parameter >= 0) text_printf(out, "; may be in%d, whose memory it takes over", v->donated_parameter);
  text_putc(out, '\n');
}

static void describe_all(text *out, const program *p) {
  for (int k = 0; k < p->parameter_count; k++) describe(out, p, PROGRAM_PARAMETER, k);
  for (int k = 0; k < p->result_count; k++) describe(out, p, PROGRAM_RESULT, k);
  for (int k = 0; k < p->dynamic_count; k++)
    text_printf(out, "//   dimension %d of out%d has the size in out%d, and its bound above\n", p->dynamic[k].dimension,
                p->dynamic[k].result, p->dynamic[k].size);
}

static void describe_call(text *out, bool calls_runtime) {
  text_puts(
      out,
      "// Reads in0, …, writes out0, … and the workspace, whose contents mean nothing before and behind the call.\n");
  text_puts(out,
            "// No two of them may overlap but as said below. May be called from any thread at the same time, each "
            "with results\n// and a workspace of its own.");
  text_puts(out, calls_runtime ? " Links with -lheddle-runtime, which keeps what its operations need ready.\n// An "
                                 "error is the caller's to free (heddle_status_free); the results are undefined then."
                               : " Takes no other memory and keeps nothing.");
  text_puts(out, "\n// Arrays are row-major where nothing else is said.\n");
}

static void print_sizes(text *out, const program_sizes *s) {
  for (int k = 0; k < program_sizes_given_count(s); k++)
    text_printf(out, "%sint64_t %s", k ? ", " : "", s->symbols[k].name);
}

// How much memory a call works in: a number, or a function of the sizes that only calls know.
static void print_workspace(arena *a, text *out, const program *p, const char *name, const char *upper) {
  const program_sizes *s = &p->sizes;
  if (s->symbol_count == 0) {
    text_printf(out, "// Bytes of workspace for one call.\n#define %s_WORKSPACE_BYTES %" PRId64 "\n", upper,
                p->temporary_bytes);
    return;
  }
  text_puts(out, "// Bytes of workspace for a call at these sizes; -1 for sizes that the program does not run at:\n");
  for (int k = 0; k < program_sizes_given_count(s); k++)
    text_printf(out, "//   %s: %" PRId64 " to %" PRId64 "\n", s->symbols[k].name, s->symbols[k].least,
                s->symbols[k].most);
  text_printf(out, "int64_t %s(", object_code_workspace(a, name));
  print_sizes(out, s);
  text_puts(out, ");\n");
}

static void print_header(arena *a, text *out, const compiled *c, const char *name, bool calls_runtime) {
  const program *p = object_code_mark(a, &c->program);
  const char *upper = arena_strdup(a, name, strlen(name));
  for (char *x = (char *)(uintptr_t)upper; *x; x++) *x = (char)toupper((unsigned char)*x);
  text_puts(out, "// ");
  print_name(out, p->name);
  text_printf(out, " by Heddle " HEDDLE_VERSION ", for %s with %s.\n", cpu_target_machine(&c->machine),
              cpu_features_needed(a, cpu_target_machine(&c->machine), str_from(c->machine.features)));
  text_printf(out, "#ifndef HEDDLE_OBJECT_%s_H_\n#define HEDDLE_OBJECT_%s_H_\n\n#include <stdint.h>\n%s\n", name, name,
              calls_runtime ? "\n#include \"heddle/runtime.h\"\n" : "");
  text_puts(out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  print_workspace(a, out, p, name, upper);
  text_printf(out, "// What all addresses are to be multiples of.\n#define %s_ALIGNMENT 64\n\n", upper);
  describe_call(out, calls_runtime);
  describe_all(out, p);
  text_printf(out, "%s %s(", calls_runtime ? "heddle_status" : "void", name);
  for (int k = 0; k < p->parameter_count; k++)
    text_printf(out, "const %s *in%d, ", c_type(p->parameters[k].shape.type), k);
  for (int k = 0; k < p->result_count; k++) text_printf(out, "%s *out%d, ", c_type(p->results[k].shape.type), k);
  text_puts(out, p->sizes.symbol_count > 0 ? "void *workspace, " : "void *workspace");
  print_sizes(out, &p->sizes);
  text_puts(out, ");\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

// --- the object

static heddle_status make_driver(arena *a, const compiled *c, const char *name, bool freestanding,
                                 object_code_calls *calls, kernel_image *out) {
  text code = {0};
  heddle_status s = object_code_print(a, c, name, freestanding, &code, calls);
  if (status_is_ok(s)) s = cpu_emit_text(a, text_cstr(&code), &c->machine, out);
  text_free(&code);
  return s;
}

static heddle_status merge(arena *a, const compiled *c, const char *name, const kernel_image *driver,
                           const object_code_calls *calls, text *object, const char **undefined) {
  const program *p = &c->program;
  str *objects = arena_array(a, str, p->image_count + 1);
  elf_constant *constants = arena_array(a, elf_constant, p->allocation_count + calls->count);
  elf_merge_request request = {.objects = objects, .constants = constants, .shown = {name}};
  if (p->sizes.symbol_count > 0) request.shown[1] = object_code_workspace(a, name);
  objects[request.object_count++] = (str){driver->data, driver->size};
  for (int k = 0; k < p->image_count; k++)
    objects[request.object_count++] = (str){p->images[k].data, p->images[k].size};
  for (int k = 0; k < p->allocation_count; k++)
    if (p->allocations[k].kind == PROGRAM_CONSTANT)
      constants[request.constant_count++] =
          (elf_constant){object_code_constant(a, name, k), p->allocations[k].data, (size_t)p->allocations[k].bytes};
  for (int k = 0; k < calls->count; k++)
    constants[request.constant_count++] =
        (elf_constant){object_code_description(a, name, k), calls->descriptions[k].data, calls->descriptions[k].size};
  return elf_merge(a, &request, object, undefined);
}

heddle_status object_make(arena *a, const compiled *c, const char *name, bool freestanding, text *header, text *object,
                          const char **undefined) {
  if (c->machine.kind != TARGET_CPU) return status_error(HEDDLE_UNIMPLEMENTED, "objects are made for CPUs");
  if (c->program.device_count > 1)
    return status_at(HEDDLE_UNIMPLEMENTED, c->program.where,
                     "the program runs on %d devices, which only the runtime has: save the program instead",
                     c->program.device_count);
  if (c->program.sizes.is_for_given)
    return status_at(
        HEDDLE_UNIMPLEMENTED, c->program.where,
        "the program has code for each remainder of what divides its sizes, between which only the runtime "
        "chooses: save the program instead");
  kernel_image driver;
  object_code_calls calls;
  TRY(make_driver(a, c, name, freestanding, &calls, &driver));
  TRY(merge(a, c, name, &driver, &calls, object, undefined));
  print_header(a, header, c, name, calls.count > 0);
  return status_ok();
}
