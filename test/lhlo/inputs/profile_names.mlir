func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // "profile.start"() would be LHLO's.
  %y = stablehlo.custom_call @Sharding(%x) {backend_config = "\"profile.start\"()", mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32> loc("profile.end")
  return %y : tensor<4xf32>
}
