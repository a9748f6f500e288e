// RUN: test_correctness %S/inputs/select_and_scatter.hlo --region=%s | FileCheck %s
// RUN: emitters_opt %s -iree-codegen-hlo-to-linalg-on-tensors | FileCheck %s --check-prefix=LINALG
// In a region a select-and-scatter is what the expander makes of it: windows of places and values, then selections.

// CHECK: results agree
// LINALG:     linalg.generic {{.*}}"reduction"
// LINALG-NOT: mhlo.

hal.executable.target "cpu" {
  module {
    func.func @main() {
      %c0 = arith.constant 0 : index
      %x = hal.interface.load.tensor @io::@x, offset = %c0 : tensor<12x12xf32>
      %d = hal.interface.load.tensor @io::@d, offset = %c0 : tensor<6x6xf32>
      %zero = "mhlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
      %s = "mhlo.select_and_scatter"(%x, %d, %zero) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %g = "mhlo.compare"(%a, %b) {comparison_direction = #mhlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
        "mhlo.return"(%g) : (tensor<i1>) -> ()
      }, {
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %t = "mhlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "mhlo.return"(%t) : (tensor<f32>) -> ()
      }) {padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>, window_dimensions = dense<3> : tensor<2xi64>, window_strides = dense<2> : tensor<2xi64>} : (tensor<12x12xf32>, tensor<6x6xf32>, tensor<f32>) -> tensor<12x12xf32>
      hal.interface.store.tensor %s, @io::@r, offset = %c0 : tensor<12x12xf32>
      return
    }
    hal.interface @io attributes {sym_visibility = "private"} {
      hal.interface.binding @x, set=0, binding=0, type="StorageBuffer", access="Read"
      hal.interface.binding @d, set=0, binding=1, type="StorageBuffer", access="Read"
      hal.interface.binding @r, set=0, binding=2, type="StorageBuffer", access="Write|Discard"
    }
  }
}
