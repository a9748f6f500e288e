// The first 300 elements of rows that are flattened and padded at the end.
func.func public @main(%x: tensor<?x3xf32>) -> tensor<300xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %count = stablehlo.multiply %n, %three : tensor<i32>
  %count1 = stablehlo.reshape %count : (tensor<i32>) -> tensor<1xi32>
  %value = stablehlo.constant dense<1.0> : tensor<f32>
  %flat = stablehlo.dynamic_reshape %x, %count1 : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  %padded = stablehlo.pad %flat, %value, low = [0], high = [300], interior = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %starts = stablehlo.constant dense<0> : tensor<1xi32>
  %limits = stablehlo.constant dense<300> : tensor<1xi32>
  %steps = stablehlo.constant dense<1> : tensor<1xi32>
  %part = stablehlo.real_dynamic_slice %padded, %starts, %limits, %steps : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<300xf32>
  return %part : tensor<300xf32>
}
