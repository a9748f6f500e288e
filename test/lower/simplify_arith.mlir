// RUN: emitters_opt %s -split-input-file -xla-gpu-simplify-arith | FileCheck %s

func.func @comparisons(%a: index {xla.range = [0 : index, 127 : index]}, %any: index) -> (i1, i1, i1, i1, i1) {
  %c127 = arith.constant 127 : index
  %c128 = arith.constant 128 : index
  %c0 = arith.constant 0 : index
  %always = arith.cmpi sle, %a, %c127 : index
  %never = arith.cmpi eq, %a, %c128 : index
  %unsigned = arith.cmpi ult, %a, %c128 : index
  %open = arith.cmpi slt, %a, %c127 : index
  %unknown = arith.cmpi uge, %any, %c0 : index
  return %always, %never, %unsigned, %open, %unknown : i1, i1, i1, i1, i1
}
// CHECK-LABEL: func.func @comparisons
// CHECK:         %[[TRUE:.*]] = arith.constant true
// CHECK:         %[[FALSE:.*]] = arith.constant false
// CHECK:         %[[TRUE2:.*]] = arith.constant true
// CHECK:         %[[OPEN:.*]] = arith.cmpi slt
// CHECK:         %[[UNKNOWN:.*]] = arith.cmpi uge
// CHECK:         return %[[TRUE]], %[[FALSE]], %[[TRUE2]], %[[OPEN]], %[[UNKNOWN]]

// -----

// A clamp whose ends the value never leaves.
func.func @clamp(%a: index {xla.range = [3 : index, 10 : index]}) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c10 = arith.constant 10 : index
  %low = arith.maxsi %a, %c0 : index
  %both = arith.minsi %low, %c10 : index
  %some = arith.minsi %a, %c5 : index
  return %both, %some : index, index
}
// CHECK-LABEL: func.func @clamp
// CHECK-SAME:    (%[[A:[a-z0-9]+]]: index
// CHECK-NOT:     arith.maxsi
// CHECK:         %[[SOME:.*]] = arith.minsi %[[A]]
// CHECK:         return %[[A]], %[[SOME]]

// -----

// Divisions become unsigned where nothing is negative, and go where the divisor is larger.
func.func @division(%a: index {xla.range = [0 : index, 100 : index]}, %b: index {xla.range = [-1 : index, 100 : index]})
    -> (index, index, index, index, index) {
  %c7 = arith.constant 7 : index
  %c200 = arith.constant 200 : index
  %0 = arith.floordivsi %a, %c7 : index
  %1 = arith.remsi %a, %c7 : index
  %2 = arith.remsi %a, %c200 : index
  %3 = arith.divsi %a, %c200 : index
  %4 = arith.remsi %b, %c7 : index
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}
// CHECK-LABEL: func.func @division
// CHECK-SAME:    (%[[A:[a-z0-9]+]]: index {{.*}}, %[[B:[a-z0-9]+]]: index
// CHECK:         %[[Q:.*]] = arith.divui %[[A]]
// CHECK:         %[[R:.*]] = arith.remui %[[A]]
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : index
// CHECK:         %[[S:.*]] = arith.remsi %[[B]]
// CHECK:         return %[[Q]], %[[R]], %[[A]], %[[ZERO]], %[[S]]

// -----

// Bounds of a loop are ranges too.
func.func @loop(%init: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %init) -> (i32) {
    %inside = arith.cmpi slt, %i, %c8 : index
    %y = scf.if %inside -> (i32) {
      %z = arith.addi %x, %x : i32
      scf.yield %z : i32
    } else {
      scf.yield %x : i32
    }
    scf.yield %y : i32
  }
  return %r : i32
}
// CHECK-LABEL: func.func @loop
// CHECK:         %[[TRUE:.*]] = arith.constant true
// CHECK:         scf.if %[[TRUE]]

// -----

// All quotients are one where the dividend stays between two multiples.
func.func @one_quotient(%a: index {xla.range = [16 : index, 22 : index]}) -> (index, index, index) {
  %c8 = arith.constant 8 : index
  %c7 = arith.constant 7 : index
  %0 = arith.divui %a, %c8 : index
  %1 = arith.remui %a, %c8 : index
  %2 = arith.divui %a, %c7 : index
  return %0, %1, %2 : index, index, index
}
// CHECK-LABEL: func.func @one_quotient
// CHECK-SAME:    (%[[A:[a-z0-9]+]]: index
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[WHOLE:.*]] = arith.constant 16 : index
// CHECK:         %[[REST:.*]] = arith.subi %[[A]], %[[WHOLE]]
// CHECK:         %[[Q:.*]] = arith.divui
// CHECK:         return %[[TWO]], %[[REST]], %[[Q]]

// -----

// |x| of a known range; a comparison with its greatest value is decided.
func.func @magnitude(%x: i32 {xla.range = [-5 : index, 3 : index]}) -> i1 {
  %c0 = arith.constant 0 : i32
  %c5 = arith.constant 5 : i32
  %positive = arith.cmpi sge, %x, %c0 : i32
  %minus = arith.subi %c0, %x : i32
  %abs = arith.select %positive, %x, %minus : i32
  %0 = arith.cmpi sle, %abs, %c5 : i32
  return %0 : i1
}
// CHECK-LABEL: func.func @magnitude
// CHECK:         %[[TRUE:.*]] = arith.constant true
// CHECK:         return %[[TRUE]]

// -----

// A loop keeps the variable of a map smaller than the map says.
#modulo = #xla_gpu.indexing_map<"(d0) -> (d0 mod 8, d0 floordiv 8), domain: d0 in [0, 63]">
func.func @map_in_a_loop(%init: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %init) -> (index) {
    %m:2 = xla_gpu.apply_indexing #modulo(%i)
    %y = arith.addi %m#0, %m#1 : index
    %z = arith.addi %x, %y : index
    scf.yield %z : index
  }
  return %r : index
}
// CHECK:       #[[MAP:.*]] = #xla_gpu.indexing_map<"(d0) -> (d0, 0), domain: d0 in [0, 7]">
// CHECK-LABEL: func.func @map_in_a_loop
// CHECK:         xla_gpu.apply_indexing #[[MAP]](%{{.*}})

// -----

// Where sizes are open, numbers that are far apart may be the other way round when the kernel runs, and any of them may
// be below a number that is given. What is nearby differs by a constant.
#quotient = #xla_gpu.indexing_map<"(d0) -> (d0 floordiv 2018), domain: d0 in [0, 10089]">
module attributes {xla.open_from = 500 : index} {
  func.func @open_comparisons(%a: index {xla.range = [0 : index, 1001 : index]}) -> (i1, i1, i1, i1) {
    %size = arith.constant 1002 : index
    %twice = arith.constant 2018 : index
    %given = arith.constant -1 : index
    %c7 = arith.constant 7 : index
    %within = arith.cmpi slt, %a, %size : index
    %other = arith.cmpi slt, %a, %twice : index
    %above = arith.cmpi sgt, %a, %given : index
    %below = arith.cmpi slt, %c7, %size : index
    return %within, %other, %above, %below : i1, i1, i1, i1
  }
  // CHECK:       #[[QUOTIENT:.*]] = #xla_gpu.indexing_map<"(d0) -> (d0 floordiv 2018), domain: d0 in [0, 10089]">
  // CHECK-LABEL: func.func @open_comparisons
  // CHECK-DAG:     %[[OTHER:.*]] = arith.cmpi slt
  // CHECK-DAG:     %[[TRUE:.*]] = arith.constant true
  // CHECK-DAG:     %[[ABOVE:.*]] = arith.constant true
  // CHECK-DAG:     %[[BELOW:.*]] = arith.cmpi slt, %c7, %c1002
  // CHECK:         return %[[TRUE]], %[[OTHER]], %[[ABOVE]], %[[BELOW]]

  func.func @open_clamp(%a: index {xla.range = [0 : index, 1001 : index]}) -> (index, index) {
    %last = arith.constant 1001 : index
    %twice = arith.constant 2017 : index
    %within = arith.minsi %a, %last : index
    %other = arith.minsi %a, %twice : index
    return %within, %other : index, index
  }
  // CHECK-LABEL: func.func @open_clamp(
  // CHECK-SAME:      %[[A:[a-z0-9]*]]: index
  // CHECK:         %[[OTHER:.*]] = arith.minsi
  // CHECK:         return %[[A]], %[[OTHER]]

  func.func @open_division(%a: index {xla.range = [0 : index, 1001 : index]},
                           %b: index {xla.range = [0 : index, 7 : index]},
                           %c: index {xla.range = [2018 : index, 4035 : index]})
      -> (index, index, index, index, index, index, index) {
    %size = arith.constant 1002 : index
    %twice = arith.constant 2018 : index
    %other = arith.constant 5003 : index
    %0 = arith.divui %a, %size : index
    %1 = arith.remui %a, %size : index
    %2 = arith.divui %a, %twice : index
    %3 = arith.remui %a, %twice : index
    %4 = arith.divui %b, %twice : index
    %5 = arith.divui %c, %twice : index
    %6 = arith.divui %c, %other : index
    return %0, %1, %2, %3, %4, %5, %6 : index, index, index, index, index, index, index
  }
  // CHECK-LABEL: func.func @open_division(
  // CHECK-SAME:      %[[A:[a-z0-9]*]]: index
  // CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
  // CHECK-DAG:     %[[Q:.*]] = arith.divui %[[A]], %c2018
  // CHECK-DAG:     %[[R:.*]] = arith.remui %[[A]], %c2018
  // CHECK-DAG:     %[[GIVEN:.*]] = arith.divui %{{.*}}, %c2018
  // CHECK-DAG:     %[[LARGER:.*]] = arith.divui %{{.*}}, %c5003
  // CHECK:         return %[[ZERO]], %[[A]], %[[Q]], %[[R]], %[[GIVEN]], %[[ONE]], %[[LARGER]]

  // An index up to one size is given to a map that divides by others.
  func.func @open_map(%a: index {xla.range = [0 : index, 1001 : index]}) -> index {
    %m = xla_gpu.apply_indexing #quotient(%a)
    return %m : index
  }
  // CHECK-LABEL: func.func @open_map
  // CHECK:         xla_gpu.apply_indexing #[[QUOTIENT]](%{{.*}})
}
