// How much memory the corpus' models are planned with: arguments, results and temporaries, constants apart.
// bench/memory.py compares the same figures with what XLA plans.
#include <unistd.h>

#include "base/testing.h"
#include "fuse/fuse.h"
#include "hlo/text.h"
#include "lhlo/build.h"
#include "opt/pass.h"

typedef struct model {
  const char *name;
  int64_t peak_bytes;
} model;

// Alignment may cost a little; a value that ought not to be there costs more.
enum { TOLERANCE_PER_CENT = 3 };

static const model models[] = {
    {"model_attention", 27904},
    {"model_attention_causal_bf16", 3584},
    {"model_cnn", 20856},
    {"model_constants_inside", 460},
    {"model_diffusion_step", 3268},
    {"model_gpt2_2layer", 128288},
    {"model_int4_matmul", 824},
    {"model_int8_matmul", 1408},
    {"model_kv_cache_decode", 7684},
    {"model_lstm", 9632},
    {"model_mamba_block", 11456},
    {"model_mlp", 8968},
    {"model_moe_top2", 7552},
    {"model_resnet_block", 7808},
    {"model_stencil_heat", 1920},
    {"model_train_sgd", 11756},
    {"model_unet_tiny", 6756},
    {"model_vae_elbo", 5092},
};
enum { MODELS = sizeof models / sizeof models[0] };

static heddle_status plan_file(arena *a, const char *path, const target_description *target, lhlo_program **out) {
  module *m;
  TRY(hlo_parse_file(a, path, &m));
  TRY(opt_run_pipeline(m, NULL));
  TRY(fuse_run(m, target, NULL, NULL));
  return lhlo_build(a, m, target, out);
}

static void test_models(void **state) {
  (void)state;
  static const char folder[] = HEDDLE_SOURCE_DIR "/../shared/corpus/jax";
  if (access(folder, F_OK) != 0) skip();
  const target_description target = target_cpu(2);
  for (int k = 0; k < MODELS; k++) {
    arena *a = arena_create();
    lhlo_program *p = NULL;
    heddle_status s = plan_file(a, arena_printf(a, "%s/%s/module.hlo", folder, models[k].name), &target, &p);
    if (!status_is_ok(s)) fail_msg("%s: %s", models[k].name, heddle_status_message(s));
    if (p->peak_bytes > models[k].peak_bytes + models[k].peak_bytes * TOLERANCE_PER_CENT / 100)
      fail_msg("%s takes %lld bytes, not %lld", models[k].name, (long long)p->peak_bytes,
               (long long)models[k].peak_bytes);
    arena_destroy(a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
  return cmocka_run_group_tests_name("lhlo/peak", tests, NULL, NULL);
}
