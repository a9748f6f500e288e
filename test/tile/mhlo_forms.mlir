// RUN: emitters_opt %s | FileCheck %s
// RUN: test_correctness %S/inputs/mhlo_forms.hlo --region=%s | FileCheck %s --check-prefix=RAN
// RUN: sed 's/mhlo.add %3/mhlo.addd %3/' %s > %t.unknown
// RUN: not emitters_opt %t.unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed 's/LT, %0/%0/' %s > %t.wrong
// RUN: not test_correctness %S/inputs/mhlo_forms.hlo --region=%t.wrong 2>&1 | FileCheck %s --check-prefix=WRONG
// MHLO's operations in the forms that MHLO prints them in, which become the generic one; and a region that does not say
// which bindings there are: those that it reads, then those that it writes, by their names.
// RAN: agree
// UNKNOWN: -:[[#]]:8: error: found operation 'mhlo.addd' in a form of its own
// WRONG: -:[[#]]:21: error:

func.func @forms() {
  %c0 = arith.constant 0 : index
  %0 = hal.interface.load.tensor @io::@x, offset = %c0 : tensor<10x15xf32>
  %b = hal.interface.load.tensor @io::@y, offset = %c0 : tensor<15xf32>
  %z = mhlo.constant dense<0.000000e+00> : tensor<f32>
  %1 = "mhlo.broadcast_in_dim"(%b) {broadcast_dimensions = dense<1> : tensor<1xi64>} : (tensor<15xf32>) -> tensor<10x15xf32>
  %2 = mhlo.compare LT, %0, %1,
    FLOAT : (tensor<10x15xf32>, tensor<10x15xf32>) -> tensor<10x15xi1>
  %3 = mhlo.select %2, %0, %1 : tensor<10x15xi1>, tensor<10x15xf32>
  %4 = mhlo.add %3, %1 : tensor<10x15xf32>
  %5 = mhlo.reduce(%4 init: %z) applies mhlo.add across dimensions = [1] : (tensor<10x15xf32>, tensor<f32>) -> tensor<10xf32>
  hal.interface.store.tensor %5, @io::@sums, offset = %c0 : tensor<10xf32>
  return
}

// CHECK:      "mhlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
// CHECK:      "mhlo.compare"(%{{.*}}, %{{.*}}) {compare_type = #mhlo<comparison_type FLOAT>, comparison_direction = #mhlo<comparison_direction LT>}
// CHECK:      "mhlo.select"(
// CHECK:      "mhlo.add"(%{{.*}}, %{{.*}}) : (tensor<10x15xf32>, tensor<10x15xf32>) -> tensor<10x15xf32>
// CHECK:      "mhlo.reduce"(%{{.*}}, %{{.*}}) ({
// CHECK:        "mhlo.add"(
// CHECK:        "mhlo.return"(
