// The last rows of an array that is asserted to have as many as the other at least.
func.func public @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %a = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %b = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %fits = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%fits) {api_version = 2 : i32, error_message = "wanted as many", has_side_effect = true} : (tensor<i1>) -> ()
  %more = stablehlo.subtract %a, %b : tensor<i32>
  %starts = stablehlo.reshape %more : (tensor<i32>) -> tensor<1xi32>
  %limits = stablehlo.reshape %a : (tensor<i32>) -> tensor<1xi32>
  %steps = stablehlo.constant dense<1> : tensor<1xi32>
  %z = stablehlo.real_dynamic_slice %x, %starts, %limits, %steps : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %s = stablehlo.add %z, %y : tensor<?xf32>
  return %s : tensor<?xf32>
}
