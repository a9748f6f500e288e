// Starts that are constants or small are limited by what there is, and the parts lie on either side of a border.
func.func public @main(%x: tensor<?x4xf32>, %k: tensor<i32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %value = stablehlo.constant dense<1.0> : tensor<f32>
  %padded = stablehlo.pad %x, %value, low = [8, 0], high = [0, 0], interior = [0, 0] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %both = stablehlo.concatenate %x, %padded, dim = 0 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %y = stablehlo.dynamic_slice %both, %five, %zero, sizes = [8, 4] : (tensor<?x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  %small = stablehlo.minimum %k, %five : tensor<i32>
  %z = stablehlo.dynamic_slice %both, %small, %zero, sizes = [8, 4] : (tensor<?x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  %y2 = stablehlo.add %y, %y : tensor<8x4xf32>
  %z2 = stablehlo.add %z, %z : tensor<8x4xf32>
  return %y2, %z2 : tensor<8x4xf32>, tensor<8x4xf32>
}
