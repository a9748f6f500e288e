// Rows and columns around an array, whose vectors are loaded with masks.
func.func public @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.pad %x, %none, low = [1, 0], high = [2, 3], interior = [0, 0] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
