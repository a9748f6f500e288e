// What a program of open sizes takes is known when they are: it keeps to a limit that is compiled for each of its
// sizes, or for those that are given.
//
// RUN: not heddle run %s --sizes=7 --memory-limit=64KiB 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: not heddle compile %s --emit=lhlo --memory-limit=50%% 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: error: programs keep to a limit of memory for sizes that are known: give them, or compile for each that comes
//
// RUN: heddle run %s --specialize --sizes=1 --sizes=1000 --memory-limit=64KiB | FileCheck %s --check-prefix=EACH
// EACH: n=1: as the interpreter has it
// EACH-NEXT: n=1000: as the interpreter has it
// RUN: not heddle run %s --specialize --sizes=1 --memory-limit=64 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: open_sizes.mlir:[[#]]:[[#]]: error: {{.*}} bytes of dram, {{(and .* are enough; )?}}there are 64
//
// A saved program keeps to its own limit and takes no other.
// RUN: heddle compile %s --specialize=1000 --memory-limit=64KiB --o=%t.heddle
// RUN: heddle run %t.heddle --sizes=1000 --random=1
// RUN: not heddle run %t.heddle --sizes=1000 --random=1 --memory-limit=1MiB 2>&1 | FileCheck %s --check-prefix=SAVED
// RUN: heddle-run %t.heddle --sizes=1000 --random=1 2>&1 | FileCheck %s --check-prefix=MEASURED
// MEASURED: memory: limit 65536 bytes, measured {{[0-9]+$}}
// SAVED: saved programs keep to the limit of memory that they were compiled for
func.func public @main(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %w = stablehlo.iota dim = 0 : tensor<64x64xf32>
  %c = stablehlo.cosine %w : tensor<64x64xf32>
  %y = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %t = stablehlo.tanh %y : tensor<?x64xf32>
  %z = stablehlo.dot_general %t, %c, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}
