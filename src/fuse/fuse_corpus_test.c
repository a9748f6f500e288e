// The conformance corpus on the interpreter behind pass pipeline and fusion: fused modules have the same results.
#include "eval/corpus_testing.h"

#include "fuse/fuse.h"
#include "fuse/library.h"
#include "kernel/kernel.h"
#include "opt/pass.h"

// What is written in place takes over its operand's memory, as buffer assignment sees to.
static heddle_status check_kernel(arena *a, const computation *c, const target_description *target) {
  kernel_leaves leaves = {0};
  TRY(kernel_leaves_of(a, c->root, &leaves));
  kernel_alias *aliases = arena_array(a, kernel_alias, leaves.size);
  int count = 0;
  for (int n = 0; n < leaves.size; n++) {
    const instruction *root = leaves.data[n].root;
    if (root->opcode == HLO_SCATTER && root->operands[leaves.data[n].element]->opcode == HLO_PARAMETER)
      aliases[count++] =
          (kernel_alias){leaves.data[n].number, (int)root->operands[leaves.data[n].element]->attributes->index};
  }
  kernel_plan *kernel;
  return kernel_plan_create(a, c, "main", target, count, aliases, &kernel);
}

// Every operation that is left has a kernel or a library call.
static heddle_status check_operations(arena *a, const module *m, const target_description *target) {
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++) {
      const instruction *i = all->data[k];
      library_call call;
      if (library_kind_of(i) != LIBRARY_NONE) TRY(library_describe(a, i, &call));
      else if (i->opcode == HLO_FUSION) TRY(check_kernel(a, i->called[0], target));
    }
  }
  return status_ok();
}

static heddle_status fuse(arena *a, module **m) {
  const target_description target = target_cpu(1);
  TRY(opt_run_pipeline(*m, NULL));
  TRY(fuse_run(*m, &target, NULL, NULL));
  TRY(module_verify(*m));
  return check_operations(a, *m, &target);
}

int main(int argc, char **argv) {
  corpus_prepare = fuse;
  return corpus_main(argc, argv);
}
