func.func public @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %sum = stablehlo.add %n, %seven : tensor<i32>
  %parts = stablehlo.divide %sum, %eight : tensor<i32>
  %m = stablehlo.multiply %parts, %eight : tensor<i32>
  %more = stablehlo.subtract %m, %n : tensor<i32>
  %rows = stablehlo.reshape %more : (tensor<i32>) -> tensor<1xi32>
  %none = stablehlo.constant dense<0> : tensor<1xi32>
  %low = stablehlo.constant dense<0> : tensor<2xi32>
  %high = stablehlo.concatenate %rows, %none, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %y = stablehlo.dynamic_pad %x, %one, %low, %high, %low : (tensor<?x8xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
