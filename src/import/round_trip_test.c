// The conformance corpus on the interpreter behind a way through another format: StableHLO text, protos, protos as
// text.
#include "eval/corpus_testing.h"

#include "import/import.h"
#include "mlir/print.h"
#include "proto/proto.h"
#include "stablehlo/hlo_to_stablehlo.h"

static heddle_status read_back(arena *a, heddle_status written, text *t, module **m) {
  if (status_is_ok(written)) written = import_module(a, "written", text_view(t), NULL, m);
  text_free(t);
  return written;
}

// StableHLO and CHLO have nothing like these two.
static bool has_no_form(const module *m) {
  for (int i = 0; i < m->entry->instructions.size; i++) {
    hlo_opcode op = m->entry->instructions.data[i]->opcode;
    if (op == HLO_STOCHASTIC_CONVERT || op == HLO_RNG_GET_AND_UPDATE_STATE) return true;
  }
  return false;
}

static heddle_status through_stablehlo(arena *a, module **m) {
  text t = {0};
  if (has_no_form(*m)) return status_ok();
  ir_module *converted;
  heddle_status s = hlo_to_stablehlo(a, *m, &converted);
  if (status_is_ok(s)) mlir_print_module(&t, converted, NULL);
  return read_back(a, s, &t, m);
}

static heddle_status through_proto(arena *a, module **m) {
  text t = {0};
  return read_back(a, proto_write(&t, *m), &t, m);
}

static heddle_status through_proto_text(arena *a, module **m) {
  text t = {0};
  return read_back(a, proto_write_text(&t, *m), &t, m);
}

int main(int argc, char **argv) {
  int failed = 0;
  corpus_prepare = through_stablehlo;
  failed += corpus_main(argc, argv);
  corpus_prepare = through_proto;
  failed += corpus_main(argc, argv);
  corpus_prepare = through_proto_text;
  return failed + corpus_main(argc, argv);
}
