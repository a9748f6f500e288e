// RUN: emitters_opt %s -split-input-file -xla-inliner | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: emitters_opt %s -split-input-file --target=cpu -xla-inliner | FileCheck %s --check-prefixes=CHECK,CPU

// Sole callers, one inside the other: all of it moves up and the functions are gone.
func.func private @inner(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}
func.func private @outer(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @inner(%x) : (f32) -> f32
  %1 = arith.addf %0, %x : f32
  return %1 : f32
}
func.func @nested_sole_callers(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @outer(%x) : (f32) -> f32
  return %0 : f32
}
// CHECK-NOT:   private
// CHECK-LABEL: @nested_sole_callers
// CHECK-NEXT:    %[[E:.*]] = math.exp %arg0
// CHECK-NEXT:    %[[S:.*]] = arith.addf %[[E]], %arg0
// CHECK-NEXT:    return %[[S]]

// -----

func.func private @f(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}
func.func @noinline(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @f(%x) {noinline} : (f32) -> f32
  return %0 : f32
}
// CHECK-LABEL: @noinline
// CHECK-NEXT:    xla_gpu.pure_call @f

// -----

// Called twice with different arguments: a copy each is all that inlining brings, on a CPU vectors with it.
func.func private @f(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}
func.func @called_twice(%x: f32, %y: f32) -> f32 {
  %0 = xla_gpu.pure_call @f(%x) : (f32) -> f32
  %1 = xla_gpu.pure_call @f(%y) : (f32) -> f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
// CHECK-LABEL: @called_twice
// GPU-COUNT-2:   xla_gpu.pure_call @f
// CPU-COUNT-2:   math.exp

// -----

// The copies would be a copy of what the callee calls each, and so on.
func.func private @leaf(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @leaf(%x) : (f32) -> f32
  return %0 : f32
}
func.func private @g(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @leaf(%x) {noinline} : (f32) -> f32
  return %0 : f32
}
func.func @calls_further(%x: f32, %y: f32) -> f32 {
  %0 = xla_gpu.pure_call @g(%x) : (f32) -> f32
  %1 = xla_gpu.pure_call @g(%y) : (f32) -> f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
// CHECK-LABEL: @calls_further
// CHECK-COUNT-2: xla_gpu.pure_call @g

// -----

// Two callers: a GPU keeps the function, unless caller and callee have a callee in common.
func.func private @f(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}
func.func @first(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @f(%x) : (f32) -> f32
  return %0 : f32
}
func.func @second(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @f(%x) : (f32) -> f32
  return %0 : f32
}
// CHECK-LABEL: @first
// GPU-NEXT:      xla_gpu.pure_call @f
// CPU-NEXT:      math.exp
// CHECK-LABEL: @second
// GPU-NEXT:      xla_gpu.pure_call @f
// CPU-NEXT:      math.exp

// -----

func.func private @shared(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}
func.func private @f(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @shared(%x) {noinline} : (f32) -> f32
  %1 = math.log %0 : f32
  return %1 : f32
}
func.func @common_callee(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @f(%x) : (f32) -> f32
  %1 = xla_gpu.pure_call @shared(%x) {noinline} : (f32) -> f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
func.func @other_caller(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @f(%x) : (f32) -> f32
  return %0 : f32
}
// Calls of the shared function meet in the caller and become one.
// CHECK-LABEL: @common_callee
// CHECK-NEXT:    %[[S:.*]] = xla_gpu.pure_call @shared
// CHECK-NEXT:    %[[L:.*]] = math.log %[[S]]
// CHECK-NEXT:    arith.addf %[[L]], %[[S]]

// -----

func.func private @parameter(%t: tensor<8xf32>, %i: index) -> f32 attributes {no_compute} {
  %0 = tensor.extract %t[%i] : tensor<8xf32>
  return %0 : f32
}
func.func @no_compute(%t: tensor<8xf32>, %i: index, %j: index) -> (f32, f32) {
  %0 = xla_gpu.pure_call @parameter(%t, %i) : (tensor<8xf32>, index) -> f32
  %1 = xla_gpu.pure_call @parameter(%t, %j) : (tensor<8xf32>, index) -> f32
  return %0, %1 : f32, f32
}
// CHECK-LABEL: @no_compute
// CHECK-COUNT-2: tensor.extract

// -----

// Fibonacci: each level calls the two below it with the same argument. Merging after each level keeps it linear.
func.func private @f0(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}
func.func private @f1(%x: f32) -> f32 {
  %0 = math.log %x : f32
  return %0 : f32
}
func.func private @f2(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @f0(%x) : (f32) -> f32
  %1 = xla_gpu.pure_call @f1(%x) : (f32) -> f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
func.func private @f3(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @f1(%x) : (f32) -> f32
  %1 = xla_gpu.pure_call @f2(%x) : (f32) -> f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
func.func private @f4(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @f2(%x) : (f32) -> f32
  %1 = xla_gpu.pure_call @f3(%x) : (f32) -> f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
func.func @fibonacci(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @f4(%x) : (f32) -> f32
  return %0 : f32
}
// CPU-NOT:     private
// CHECK-LABEL: @fibonacci
// CPU-NEXT:      math.
// CPU-NEXT:      math.
// CPU-COUNT-3:   arith.addf
// CPU-NEXT:      return

// -----

func.func private @dead(%x: f32) -> f32 {
  return %x : f32
}
func.func private @recursive(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @recursive(%x) : (f32) -> f32
  return %0 : f32
}
func.func @dead_functions(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @recursive(%x) : (f32) -> f32
  return %0 : f32
}
// CHECK-NOT:   @dead(
// CHECK:       func.func private @recursive
// CHECK-LABEL: @dead_functions
// CHECK-NEXT:    xla_gpu.pure_call @recursive
