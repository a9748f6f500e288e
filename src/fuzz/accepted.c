// Accepted programs are sent on: through every printer and reader, the passes and the compiler.
#include "fuzz/accepted.h"

#include "api/compile.h"
#include "base/int64.h"
#include "hlo/parser.h"
#include "hlo/text.h"
#include "import/import.h"
#include "mlir/ir_compare.h"
#include "mlir/parser.h"
#include "mlir/print.h"
#include "opt/pass.h"
#include "prog/program_print.h"
#include "proto/proto.h"
#include "stablehlo/hlo_to_stablehlo.h"
#include "vhlo/vhlo_operation.h"

// What is compiled is small, so that an input costs a fraction of a second. Splats and elided constants are kept small,
// too: their text is no measure of the memory they take.
enum { MOST_INSTRUCTIONS = 100, MOST_BYTES = 1 << 16, MOST_SPLAT_BYTES = 1 << 20 };

// --- HLO

static void check_hlo_text(arena *a, const module *m, hlo_print_options options) {
  module *again;
  text printed = {0}, reprinted = {0};
  hlo_print(&printed, m, options);
  accepted_must(parser_run(a, "printed", text_view(&printed), MOST_SPLAT_BYTES, &again),
                "the printed module is refused", &printed);
  accepted_must(module_compare(m, again), "the printed module is another one", &printed);
  hlo_print(&reprinted, again, options);
  accepted_demand(str_equal(text_view(&printed), text_view(&reprinted)), "the text changes", &reprinted);
  text_free(&printed);
  text_free(&reprinted);
}

// Null if protos cannot say it.
static const module *through_proto(arena *a, const module *m, bool is_text) {
  text bytes = {0};
  module *back;
  if (!accepted_may(is_text ? proto_write_text(&bytes, m) : proto_write(&bytes, m), "a proto of it", NULL)) {
    text_free(&bytes);
    return NULL;
  }
  heddle_status s = is_text ? proto_read_text(a, "written", text_view(&bytes), &back, NULL, NULL, NULL)
                            : proto_read(a, "written", text_view(&bytes), &back, NULL, NULL, NULL);
  accepted_must(s, "its proto is refused", is_text ? &bytes : NULL);
  text_free(&bytes);
  return back;
}

// Names become unique on the way (and text has one NaN), so the first copy may differ from the module; the second one
// may not.
static void check_proto(arena *a, const module *m, bool is_text) {
  const module *once = through_proto(a, m, is_text);
  const module *twice = once ? through_proto(a, once, is_text) : NULL;
  if (once) accepted_demand(twice != NULL, "a proto is written once only", NULL);
  if (once) accepted_must(module_compare(once, twice), "its proto is another module", NULL);
}

static void check_stablehlo(arena *a, const module *m) {
  ir_module *raised;
  if (accepted_may(hlo_to_stablehlo(a, m, &raised), "StableHLO of it", NULL)) accepted_ir(a, raised, ACCEPTED_PRINTED);
}

// What the passes make as long as a transform is.
static int64_t transformed_bytes(const instruction *i) {
  const int_list lengths = i->attributes->fft_length;
  int64_t bytes = shape_byte_size(i->shape);
  for (int k = 0; k < lengths.size; k++) bytes = int64_saturating_mul(bytes, int64_max(lengths.data[k], 1));
  return bytes;
}

static bool is_small(const module *m) {
  int count = 0;
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    count += all->size;
    for (int k = 0; k < all->size; k++) {
      const instruction *i = all->data[k];
      if (shape_byte_size(i->shape) > MOST_BYTES || !shape_is_static(i->shape)) return false;
      if (i->opcode == HLO_FFT && transformed_bytes(i) > MOST_BYTES) return false;
    }
  }
  return count <= MOST_INSTRUCTIONS;
}

static void end_compiled(compiled *c) {
  text printed = {0};
  program_print(&printed, &c->program);
  text_free(&printed);
  compiled_release(c);
}

static void check_compiles(arena *a, const module *m, accepted_depth depth) {
  text printed = {0};
  hlo_print(&printed, m, HLO_PRINT_FULL);
  compiled program;
  const compile_options options = {.threads = 1};
  if (accepted_may(opt_run_pipeline(module_clone(a, m), NULL), "the passes break", &printed) &&
      depth >= ACCEPTED_COMPILED &&
      accepted_may(compile_module(a, m, &options, &program), "the compiler breaks", &printed))
    end_compiled(&program);
  text_free(&printed);
}

void accepted_module(arena *a, const module *m, accepted_depth depth) {
  accepted_must(module_verify(m), "it does not verify", NULL);
  check_hlo_text(a, m, HLO_PRINT_SHORT);
  check_hlo_text(a, m, HLO_PRINT_FULL);
  if (depth < ACCEPTED_THROUGH) return;
  check_proto(a, m, false);
  check_proto(a, m, true);
  check_stablehlo(a, m);
  if (is_small(m)) check_compiles(a, m, depth);
}

static const module *copy_of(arena *a, const module *m, const accepted_form *form) {
  text written = {0};
  module *back;
  accepted_must(form->write(&written, m), "a module cannot be written", NULL);
  accepted_must(form->read(a, "written", text_view(&written), &back), "what was written is refused",
                form->is_text ? &written : NULL);
  text_free(&written);
  return back;
}

// Names become unique on the way, so the first copy may differ from what was read; the second one may not.
bool accepted_copies(str input, const accepted_form *form, accepted_depth depth) {
  arena *a = arena_create();
  module *m;
  const bool is_read = accepted_may(form->read(a, "fuzz", input, &m), "the reader breaks", NULL);
  if (is_read) {
    const module *once = copy_of(a, m, form);
    accepted_must(module_compare(once, copy_of(a, once, form)), "the program changes", NULL);
    accepted_module(a, once, depth);
  }
  arena_destroy(a);
  return is_read;
}

// --- MLIR

static void check_mlir_text(arena *a, const ir_module *m, bool is_generic) {
  text printed = {0};
  ir_module **again;
  int count;
  const mlir_print_options options = {.generic = is_generic};
  mlir_print_module(&printed, m, &options);
  accepted_must(mlir_parser_run(a, "printed", text_view(&printed), INT32_MAX, &count, &again), "the print is refused",
                &printed);
  accepted_demand(count == 1, "the print is several modules", &printed);
  accepted_must(ir_compare(m, again[0], vhlo_operation_is_default), "the printed program is another one", &printed);
  text_free(&printed);
}

void accepted_ir(arena *a, ir_module *m, accepted_depth depth) {
  check_mlir_text(a, m, true);
  check_mlir_text(a, m, false);
  if (depth < ACCEPTED_THROUGH) return;
  text printed = {0};
  module **lowered;
  int count;
  mlir_print_module(&printed, m, NULL);
  if (accepted_may(import_all(a, "printed", text_view(&printed), NULL, &count, &lowered), "HLO of it", &printed))
    for (int i = 0; i < count; i++) accepted_module(a, lowered[i], depth);
  text_free(&printed);
}

// --- LHLO

void accepted_lhlo(arena *a, const lhlo_program *p, accepted_depth depth) {
  text first = {0}, second = {0};
  lhlo_program *again;
  if (accepted_may(lhlo_print(&first, p), "the printer breaks", NULL)) {
    accepted_must(lhlo_parse_limited(a, text_view(&first), "printed", &p->target, MOST_SPLAT_BYTES, &again),
                  "the print is refused", &first);
    accepted_must(lhlo_print(&second, again), "it prints once only", &first);
    accepted_demand(str_equal(text_view(&first), text_view(&second)), "the text changes", &second);
  }
  compiled program;
  const compile_options options = {.threads = 1};
  if (depth >= ACCEPTED_COMPILED && is_small(p->module) && p->temporary_bytes <= MOST_BYTES &&
      accepted_may(compile_lhlo(a, p, &options, &program), "the compiler breaks", &first))
    end_compiled(&program);
  text_free(&first);
  text_free(&second);
}
