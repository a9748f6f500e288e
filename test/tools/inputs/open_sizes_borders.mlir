// Parts of arrays with a border of another size inside: behind twice as many rows of padding, before as many, and of
// rows that are put together.
func.func public @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %a = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %b = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %value = stablehlo.constant dense<1.0> : tensor<f32>
  %twice = stablehlo.multiply %b, %two : tensor<i32>
  %twice1 = stablehlo.reshape %twice : (tensor<i32>) -> tensor<1xi32>
  %low = stablehlo.concatenate %twice1, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %padded = stablehlo.dynamic_pad %x, %value, %low, %none, %none : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x4xf32>
  %a1 = stablehlo.reshape %a : (tensor<i32>) -> tensor<1xi32>
  %limits = stablehlo.concatenate %a1, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %part = stablehlo.real_dynamic_slice %padded, %none, %limits, %ones : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x4xf32>
  %both = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %sum = stablehlo.add %a, %b : tensor<i32>
  %sum1 = stablehlo.reshape %sum : (tensor<i32>) -> tensor<1xi32>
  %ends = stablehlo.concatenate %sum1, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %starts = stablehlo.concatenate %a1, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %rest = stablehlo.real_dynamic_slice %both, %starts, %ends, %ones : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x4xf32>
  %twofold = stablehlo.add %rest, %rest : tensor<?x4xf32>
  return %part, %twofold : tensor<?x4xf32>, tensor<?x4xf32>
}
