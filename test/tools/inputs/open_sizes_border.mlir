// Pairs of rows, of an array with one more behind it: whether the last pair takes that row depends on the size.
func.func public @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.pad %x, %none, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<?x2xf32>, tensor<f32>) -> tensor<?x2xf32>
  %more = stablehlo.add %n, %one : tensor<i32>
  %pairs = stablehlo.divide %more, %two : tensor<i32>
  %rows = stablehlo.multiply %pairs, %two : tensor<i32>
  %rows1 = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
  %columns = stablehlo.constant dense<2> : tensor<1xi32>
  %starts = stablehlo.constant dense<0> : tensor<2xi32>
  %steps = stablehlo.constant dense<1> : tensor<2xi32>
  %limits = stablehlo.concatenate %rows1, %columns, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %z = stablehlo.real_dynamic_slice %y, %starts, %limits, %steps : (tensor<?x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %z : tensor<?x2xf32>
}
