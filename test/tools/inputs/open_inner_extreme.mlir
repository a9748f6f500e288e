func.func public @main(%x: tensor<?x?xi64>) -> tensor<?xi64> {
  %low = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
  %y = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<?x?xi64>, tensor<i64>) -> tensor<?xi64>
  return %y : tensor<?xi64>
}
