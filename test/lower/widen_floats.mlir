// RUN: emitters_opt %s -split-input-file --target=cpu -xla-widen-floats | FileCheck %s --check-prefixes=CHECK,EXCESS
// RUN: emitters_opt %s -split-input-file --target=cpu --exact -xla-widen-floats | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: emitters_opt %s -split-input-file --target=nvptx --has-bf16 -xla-widen-floats | FileCheck %s --check-prefix=GPU

// A chain widens once and narrows once; exact mode rounds every step.
func.func @chain(%x: bf16, %y: bf16) -> bf16 {
  %c = arith.constant 5.000000e-01 : bf16
  %0 = arith.mulf %x, %y : bf16
  %1 = arith.addf %0, %c : bf16
  %2 = math.tanh %1 : bf16
  return %2 : bf16
}
// CHECK-LABEL:  func.func @chain
// CHECK-DAG:      %[[X:.*]] = arith.extf %arg0 : bf16 to f32
// CHECK-DAG:      %[[Y:.*]] = arith.extf %arg1 : bf16 to f32
// CHECK-DAG:      %[[C:.*]] = arith.constant 5.000000e-01 : f32
// EXCESS:         %[[P:.*]] = arith.mulf %[[X]], %[[Y]] : f32
// EXCESS-NEXT:    %[[S:.*]] = arith.addf %[[P]], %[[C]] : f32
// EXCESS-NEXT:    %[[T:.*]] = math.tanh %[[S]] {xla.narrow} : f32
// EXCESS-NEXT:    %[[N:.*]] = arith.truncf %[[T]] : f32 to bf16
// EXCESS-NEXT:    return %[[N]]
// EXACT:          arith.mulf {{.*}} : f32
// EXACT-NEXT:     arith.truncf {{.*}} : f32 to bf16
// EXACT-NEXT:     arith.extf {{.*}} : bf16 to f32
// EXACT-NEXT:     arith.addf {{.*}} : f32
// EXACT-NEXT:     arith.truncf {{.*}} : f32 to bf16
// EXACT-NEXT:     arith.extf {{.*}} : bf16 to f32
// EXACT-NEXT:     math.tanh %{{[0-9]+}} : f32
// EXACT-NEXT:     arith.truncf {{.*}} : f32 to bf16
// What the hardware has stays.
// GPU-LABEL:    func.func @chain
// GPU:            arith.mulf %arg0, %arg1 : bf16
// GPU:            arith.addf {{.*}} : bf16
// GPU:            arith.extf {{.*}} : bf16 to f32
// GPU:            math.tanh {{.*}} : f32
// GPU:            arith.truncf {{.*}} : f32 to bf16

// -----

// The rounding that the program asks for stays in both modes.
func.func @explicit(%x: f32) -> f32 {
  %0 = arith.truncf %x : f32 to bf16
  %1 = arith.addf %0, %0 : bf16
  %2 = arith.extf %1 : bf16 to f32
  return %2 : f32
}
// CHECK-LABEL:  func.func @explicit
// CHECK:          %[[N:.*]] = arith.truncf %arg0 : f32 to bf16
// CHECK:          %[[W:.*]] = arith.extf %[[N]] : bf16 to f32
// CHECK:          %[[S:.*]] = arith.addf %[[W]], %[[W]] : f32
// EXCESS:         return %[[S]]
// EXACT:          arith.truncf
// EXACT:          arith.extf
// EXACT:          return

// -----

// An accumulator is carried in f32; in exact mode each step is rounded.
func.func @accumulate(%x: bf16, %init: bf16, %n: index) -> bf16 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (bf16) {
    %0 = arith.addf %sum, %x : bf16
    scf.yield %0 : bf16
  }
  return %r : bf16
}
// CHECK-LABEL:  func.func @accumulate
// EXCESS:         %[[INIT:.*]] = arith.extf %arg1 : bf16 to f32
// EXCESS:         %[[R:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[INIT]]) -> (f32) {
// EXCESS-NEXT:      %[[NEW:.*]] = arith.addf %[[SUM]], %{{.*}} : f32
// EXCESS-NEXT:      scf.yield %[[NEW]] : f32
// EXCESS:         arith.truncf %[[R]] : f32 to bf16
// EXACT:          scf.for {{.*}} -> (bf16)

// -----

// Selects and branches in the middle of a chain.
func.func @branches(%c: i1, %x: bf16) -> bf16 {
  %0 = arith.mulf %x, %x : bf16
  %1 = arith.select %c, %0, %x : bf16
  %2 = scf.if %c -> (bf16) {
    %3 = arith.addf %1, %x : bf16
    scf.yield %3 : bf16
  } else {
    scf.yield %x : bf16
  }
  %4 = arith.negf %2 : bf16
  return %4 : bf16
}
// CHECK-LABEL:  func.func @branches
// EXCESS:         arith.select {{.*}} : f32
// EXCESS:         scf.if {{.*}} -> (f32)
// EXCESS:         arith.negf {{.*}} : f32
// EXCESS-NEXT:    arith.truncf
// EXCESS-NEXT:    return
// EXACT:          arith.select {{.*}} : bf16
// EXACT:          scf.if {{.*}} -> (bf16)

// -----

// A select that only moves values is left alone, and so are bits.
func.func @moves(%c: i1, %x: f16, %y: f16) -> (f16, i16) {
  %0 = arith.select %c, %x, %y : f16
  %1 = arith.bitcast %0 : f16 to i16
  return %0, %1 : f16, i16
}
// CHECK-LABEL:  func.func @moves
// CHECK-NEXT:     arith.select {{.*}} : f16
// CHECK-NEXT:     arith.bitcast
// CHECK-NEXT:     return

// -----

// Integers that the narrow type cannot hold are rounded to it where they stand, through f64 if f32 does not hold them;
// others need no rounding. Comparisons have no result to narrow.
func.func @integers(%i: i32, %s: i8, %x: bf16) -> (bf16, bf16, i1, i32) {
  %0 = arith.sitofp %i : i32 to bf16
  %1 = arith.uitofp %s : i8 to bf16
  %2 = arith.cmpf olt, %1, %0 : bf16
  %3 = arith.fptosi %x : bf16 to i32
  return %0, %1, %2, %3 : bf16, bf16, i1, i32
}
// CHECK-LABEL:  func.func @integers
// CHECK:          %[[D:.*]] = arith.sitofp %arg0 : i32 to f64
// CHECK:          %[[N:.*]] = arith.truncf %[[D]] : f64 to bf16
// CHECK:          %[[W:.*]] = arith.extf %[[N]] : bf16 to f32
// CHECK:          %[[F:.*]] = arith.uitofp %arg1 : i8 to f32
// CHECK:          arith.truncf %[[F]] : f32 to bf16
// EXCESS:         arith.cmpf olt, %[[F]], %[[W]] : f32
// EXACT:          arith.cmpf olt, {{.*}}, %[[W]] : f32
// CHECK:          arith.fptosi {{.*}} : f32 to i32

// -----

// Vectors and 8-bit floats.
func.func @vectors(%x: vector<8xf8E4M3FN>) -> vector<8xf8E4M3FN> {
  %c = arith.constant dense<2.000000e+00> : vector<8xf8E4M3FN>
  %0 = arith.mulf %x, %c : vector<8xf8E4M3FN>
  %1 = arith.maximumf %0, %x : vector<8xf8E4M3FN>
  return %1 : vector<8xf8E4M3FN>
}
// CHECK-LABEL:  func.func @vectors
// CHECK-DAG:      arith.extf %arg0 : vector<8xf8E4M3FN> to vector<8xf32>
// CHECK-DAG:      arith.constant dense<2.000000e+00> : vector<8xf32>
// EXCESS:         arith.mulf {{.*}} : vector<8xf32>
// EXCESS-NEXT:    arith.maximumf {{.*}} : vector<8xf32>
// EXCESS-NEXT:    arith.truncf {{.*}} : vector<8xf32> to vector<8xf8E4M3FN>
// GPU-LABEL:    func.func @vectors
// GPU:            arith.mulf {{.*}} : vector<8xf32>

// -----

// The program widens an f8 value, but not as far as f32: what is known in f32 is rounded to the wider of the
// two types, where the program says so.
func.func @between(%x: f8E5M2, %y: f8E5M2) -> (f8E5M2, bf16) {
  %0 = arith.subf %x, %y : f8E5M2
  %1 = arith.extf %0 : f8E5M2 to bf16
  %2 = arith.addf %1, %1 : bf16
  return %0, %1 : f8E5M2, bf16
}
// CHECK-LABEL:  func.func @between
// CHECK:          %[[S:.*]] = arith.subf {{.*}} : f32
// CHECK-NEXT:     %[[N:.*]] = arith.truncf %[[S]] : f32 to f8E5M2
// EXCESS-NEXT:    %[[B:.*]] = arith.truncf %[[S]] : f32 to bf16
// EXCESS-NEXT:    %[[W:.*]] = arith.extf %[[B]] : bf16 to f32
// EXCESS-NEXT:    arith.addf %[[W]], %[[W]] : f32
// EXACT-NEXT:     %[[B:.*]] = arith.extf %[[N]] : f8E5M2 to bf16
// CHECK:          return %[[N]], %[[B]]

// -----

// So is what vectors come to.
func.func @vectors(%x: vector<8xbf16>, %y: vector<8xbf16>, %z: vector<8xbf16>, %s: bf16) -> bf16 {
  %0 = vector.fma %x, %y, %z : vector<8xbf16>
  %1 = vector.reduction <add>, %0, %s : vector<8xbf16> into bf16
  return %1 : bf16
}
// CHECK-LABEL:  func.func @vectors
// CHECK:          vector.fma {{.*}} : vector<8xf32>
// CHECK:          vector.reduction <add>, {{.*}} : vector<8xf32> into f32
// CHECK:          arith.truncf {{.*}} : f32 to bf16
