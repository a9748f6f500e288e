// RUN: emitters_opt %s -xla-erase-dead-functions | FileCheck %s

func.func private @a(%x: f32) -> f32 {
  %0 = xla_gpu.pure_call @b(%x) : (f32) -> f32
  return %0 : f32
}
func.func private @b(%x: f32) -> f32 {
  return %x : f32
}
func.func private @combine(%x: f32, %y: f32) -> f32 {
  return %x : f32
}
func.func @main(%x: f32) -> f32 {
  %0 = xla_gpu.shuffle_reduce (%x) to 2 combiner = @combine : f32
  return %0 : f32
}
// CHECK-NOT: @a
// CHECK-NOT: @b
// CHECK:     @combine
// CHECK:     @main
