// emitters_opt: XLA's names of 2025 and maps of 2024, and the flags of XLA's tests.

// What is read in a year's spelling is printed in it, generic forms too.
// RUN: emitters_opt %s --verify-roundtrip | FileCheck %s
// RUN: emitters_opt %s --mlir-print-op-generic | emitters_opt | FileCheck %s
// CHECK: #[[MAP:.*]] = #xla.indexing_map<"(d0)[i] -> (d0 * 8 + i), domain: d0 in [0, 3], i in [0, 7]">
// CHECK: func.func @loop({{.*}}) -> tensor<32xf32> attributes {xla.backend_kind = #xla.backend_kind<cpu>, xla.entry} {
// CHECK: xla.workgroup_id  x {xla.range = [0 : index, 3 : index]}
// CHECK: xla.loop ({{.*}})[%i] -> (%{{.*}}) in #[[MAP]] iter_args(
// CHECK: xla.pure_call @double
// CHECK: xla.yield
// CHECK: xla.apply_indexing #[[MAP]]
// RUN: emitters_opt %s --dialect=xla_gpu | FileCheck %s --check-prefix=OLD
// RUN: emitters_opt %s --dialect=xla_gpu | emitters_opt --dialect=xla | FileCheck %s --check-prefix=NEW
// OLD: #xla_gpu.indexing_map
// OLD: xla_gpu.loop
// NEW: #xla.indexing_map
// NEW: xla.loop

// 2024: maps without quotes, over several lines; then the dialect is xla_gpu.
// RUN: echo '// #xla.indexing_map "' > %t.2024
// RUN: echo '#map = #xla_gpu.indexing_map<(d0)[s0] -> (d0 + s0),' >> %t.2024
// RUN: echo ' domain: d0 in [0, 3],' >> %t.2024
// RUN: echo ' s0 in [0, 7]>' >> %t.2024
// RUN: echo 'func.func @f(%a: index, %b: index) -> index {' >> %t.2024
// RUN: echo '  %0 = xla_gpu.apply_indexing #map(%a)[%b]' >> %t.2024
// RUN: echo '  return %0 : index' >> %t.2024
// RUN: echo '}' >> %t.2024
// RUN: emitters_opt %t.2024 | FileCheck %s --check-prefix=Y2024
// Y2024: #[[MAP:.*]] = #xla_gpu.indexing_map<"(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 7]">
// Y2024: xla_gpu.apply_indexing #[[MAP]]
// RUN: sed -e s/return/retrun/ %t.2024 > %t.typo
// RUN: python3 %S/inputs/fails.py 1 emitters_opt %t.typo | FileCheck %s --check-prefix=TYPO
// TYPO: error: {{.*}}:7:3

// Passes by XLA's names, as flags and as one text, with options.
// RUN: emitters_opt %s -xla-test-optimize --inline="default-pipeline='cse'" -xla-lower-xla-loops-to-scf -o %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=LOWERED < %t.out
// LOWERED: scf.for
// LOWERED-NOT: pure_call
// RUN: FileCheck %s --check-prefix=OPTION < %t.err
// OPTION: warning: option default-pipeline='cse' of pass inline has no effect
// RUN: emitters_opt %s --pass-pipeline="builtin.module(func.func(xla-simplify-arith),canonicalize, inline, xla-lower-xla-loops-to-scf{warp_size=32})" | FileCheck %s --check-prefix=LOWERED
// RUN: emitters_opt %s -inline -xla-vectorize-loads-stores="gpu_device_info='cuda_compute_capability {major: 6}' target_type=cpu" 2>&1 | FileCheck %s --check-prefix=TAKEN --implicit-check-not=warning
// TAKEN: func.func @loop
// RUN: emitters_opt %s --mlir-print-ir-after-all -inline -cse -o /dev/null 2>&1 | FileCheck %s --check-prefix=AFTER
// AFTER: // -----// IR Dump After xla-inliner //----- //
// AFTER: xla.loop
// RUN: python3 %S/inputs/fails.py 2 emitters_opt %s -xla-gpu-recover-exp2 | FileCheck %s --check-prefix=LACKING
// LACKING: error: pass xla-gpu-recover-exp2 of XLA has no counterpart here
// RUN: python3 %S/inputs/fails.py 2 emitters_opt %s -xla-lower-tensor | FileCheck %s --check-prefix=NEAR
// NEAR: error: unknown flag --xla-lower-tensor; did you mean --xla-gpu-lower-tensors?
// RUN: python3 %S/inputs/fails.py 2 emitters_opt %s "--pass-pipeline=builtin.module(cse" | FileCheck %s --check-prefix=OPEN
// OPEN: error: --pass-pipeline=builtin.module(cse: character 19: found the end
// RUN: python3 %S/inputs/fails.py 2 emitters_opt %s --pass-pipeline=cse,magic | FileCheck %s --check-prefix=MAGIC
// MAGIC: error: unknown flag or pass magic
// RUN: emitters_opt %s --mlir-disable-threading --verify-each -o /dev/null 2>&1 | FileCheck %s --check-prefix=IDLE
// IDLE: warning: --mlir-disable-threading has no effect: passes run on one thread
// IDLE: warning: --verify-each has no effect

#map = #xla.indexing_map<"(d0)[i] -> (d0 * 8 + i),"
                         " domain: d0 in [0, 3], i in [0, 7]">
func.func @loop(%in: tensor<32xf32>, %out: tensor<32xf32>) -> tensor<32xf32>
    attributes {xla.backend_kind = #xla.backend_kind<cpu>, xla.entry} {
  %block = xla.workgroup_id x {xla.range = [0 : index, 3 : index]}
  %done = xla.loop (%block)[%i] -> (%at) in #map iter_args(%iter = %out) -> (tensor<32xf32>) {
    %value = tensor.extract %in[%at] : tensor<32xf32>
    %twice = xla.pure_call @double(%value) : (f32) -> f32
    %next = tensor.insert %twice into %iter[%at] : tensor<32xf32>
    xla.yield %next : tensor<32xf32>
  }
  return %done : tensor<32xf32>
}

func.func @double(%x: f32) -> f32 {
  %sum = arith.addf %x, %x : f32
  return %sum : f32
}

func.func @index(%a: index, %b: index) -> index {
  %0 = xla.apply_indexing #map(%a)[%b]
  return %0 : index
}
