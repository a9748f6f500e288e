// Every second window of three, pairs of a row padded in front, and every third element from the second one on.
func.func public @main(%x: tensor<2x?x4xf32>, %w: tensor<3x4x5xf32>) -> (tensor<2x?x5xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>) {
  %c = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x?x4xf32>, tensor<3x4x5xf32>) -> tensor<2x?x5xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 2, 1>, window_strides = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [1, 0], [0, 0]]> : tensor<3x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x?x4xf32>, tensor<f32>) -> tensor<2x?x4xf32>
  %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x?x4xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %limits = stablehlo.concatenate %two, %n1, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  %starts = stablehlo.constant dense<[0, 1, 0]> : tensor<3xi32>
  %steps = stablehlo.constant dense<[1, 3, 1]> : tensor<3xi32>
  %t = stablehlo.real_dynamic_slice %x, %starts, %limits, %steps : (tensor<2x?x4xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x?x4xf32>
  return %c, %p, %t : tensor<2x?x5xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>
}
