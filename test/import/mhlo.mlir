// MHLO: StableHLO's operations by their older names and attributes, and those that MHLO alone has, in both forms.
// RUN: heddle convert --to=hlo %s | FileCheck %s
// RUN: run_hlo_module %s --input_format=mhlo | FileCheck %s --check-prefix=COMPARED
// What is printed by the importer's own printer reads as the same program.
// RUN: heddle convert --to=hlo %s > %t.hlo
// RUN: heddle convert --to=stablehlo %s > %t.again.mlir
// RUN: heddle convert --to=hlo %t.again.mlir | diff %t.hlo -
// RUN: heddle convert --to=stablehlo --generic %s > %t.generic.mlir
// RUN: heddle convert --to=hlo %t.generic.mlir | diff %t.hlo -
// COMPARED: agree
module  @mhlo attributes {mhlo.num_replicas = 1 : i32} {
  func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = mhlo.add %x, %x : tensor<4xf32>
    std.return %0 : tensor<4xf32>
  }
  func.func @main(tensor<4xf32>, tensor<2x4xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>,
      tensor<2x4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<?xindex>, tensor<?xindex>) {
  ^bb0(%x: tensor<4xf32>, %y: tensor<2x4xf32>):
    %zero = mhlo.constant dense<0.0> : tensor<f32>
    %bits = arith.constant dense<[1, 2, 3, 4]> : tensor<4xui32>
    %0 = mhlo.erf %x : tensor<4xf32>
    %c = mhlo.cosh %x : tensor<4xf32>
    %1 = mhlo.acosh %c : (tensor<4xf32>) -> tensor<4xf32>
    %2 = "mhlo.sinh"(%1) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = mhlo.copy %2 : tensor<4xf32>
    %4 = mhlo.tan %3 : tensor<4xf32>
    %token = mhlo.create_token : !mhlo.token
    %5 = mhlo.add_dependency %4, %token : (tensor<4xf32>, !mhlo.token) -> tensor<4xf32>
    %6 = "mhlo.fusion"(%5, %0) ({
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %s = mhlo.atanh %b : tensor<4xf32>
      %t = mhlo.add %a, %s : tensor<4xf32>
      "mhlo.return"(%t) : (tensor<4xf32>) -> ()
    }) {fusion_kind = #mhlo<fusion_kind kLoop>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %7 = mhlo.reduce(%y init: %zero) applies mhlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    %8:2 = mhlo.topk(%x, k=2, largest=false) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
    %9 = "mhlo.dot_general"(%y, %y) {dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1],>, precision_config = [#mhlo<precision DEFAULT>, #mhlo<precision HIGHEST>]}
      : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
    %10 = "mhlo.compare"(%y, %y) {comparison_direction = #mhlo<comparison_direction LT>, compare_type = #mhlo<comparison_type FLOAT>}
      : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
    %11 = "mhlo.broadcast_in_dim"(%x) {broadcast_dimensions = dense<1> : tensor<1xi64>} : (tensor<4xf32>) -> tensor<2x4xf32>
    %12 = "mhlo.select"(%10, %y, %11) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %13 = "mhlo.async_start"(%x) {called_computation = @double, execution_thread = "main"} : (tensor<4xf32>)
      -> !mhlo.async_bundle<tuple<tensor<4xf32>>, tensor<4xf32>, tensor<i32>>
    %14 = "mhlo.async_update"(%13) : (!mhlo.async_bundle<tuple<tensor<4xf32>>, tensor<4xf32>, tensor<i32>>)
      -> !mhlo.async_bundle<tuple<tensor<4xf32>>, tensor<4xf32>, tensor<i32>>
    %15 = "mhlo.async_done"(%14) : (!mhlo.async_bundle<tuple<tensor<4xf32>>, tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>
    %16 = "mhlo.stochastic_convert"(%x, %bits) : (tensor<4xf32>, tensor<4xui32>) -> tensor<4xbf16>
    %17 = mhlo.bitcast %y {source_layout = dense<[0, 1]> : tensor<2xindex>, result_layout = dense<[1, 0]> : tensor<2xindex>}
      : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %18 = "mhlo.domain"(%9) {kind = #mhlo<kind sharding>, entry_metadata = "", exit_metadata = ""} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %s0 = mhlo.constant dense<[1, 2, 3, 1, 2, 1]> : tensor<6xindex>
    %s1 = mhlo.constant dense<[1, 1, 1, 2, 3]> : tensor<5xindex>
    %19:2 = mhlo.minimum_broadcast_shapes %s0, %s1 : tensor<6xindex>, tensor<5xindex> -> tensor<?xindex>, tensor<?xindex>
    "mhlo.trace"(%x) {tag = "x"} : (tensor<4xf32>) -> ()
    func.return %6, %7, %8#0, %8#1, %12, %15, %16, %17, %18, %19#0, %19#1 : tensor<4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>,
      tensor<2x4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<?xindex>, tensor<?xindex>
  }
}

// CHECK: fused_computation
// CHECK: atanh(
// CHECK: ENTRY
// CHECK: erf(
// CHECK: cosh(
// CHECK: acosh(
// CHECK: sinh(
// CHECK: copy(
// CHECK: tan(
// CHECK: add-dependency(
// CHECK: fusion({{.*}}kind=kLoop
// CHECK: topk({{.*}}k=2, largest=false
// CHECK: async-start({{.*}}calls=
// CHECK: async-update(
// CHECK: async-done(
// CHECK: stochastic-convert(
// CHECK: bitcast(
// CHECK: constant({6, 2, 1})
// CHECK: constant({2, 3})
