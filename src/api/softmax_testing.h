// A row softmax over open rows as StableHLO text: what tests and benchmarks of open sizes compile.
#ifndef HEDDLE_API_SOFTMAX_TESTING_H_
#define HEDDLE_API_SOFTMAX_TESTING_H_

// `columns` as a tensor's type has them; `size` is the line that makes %k : tensor<1xi32> of their number.
#define SOFTMAX(columns, size)                                                                        \
  "func.func public @main(%x: tensor<?x" columns "xf32>) -> tensor<?x" columns                        \
  "xf32> {\n"                                                                                         \
  "  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"                                     \
  "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"                                           \
  "  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]\n"        \
  "    : (tensor<?x" columns                                                                          \
  "xf32>, tensor<f32>) -> tensor<?xf32>\n"                                                            \
  "  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x" columns                              \
  "xf32>) -> tensor<i32>\n"                                                                           \
  "  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n" size                              \
  "  %s = stablehlo.concatenate %n1, %k, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n" \
  "  %mb = stablehlo.dynamic_broadcast_in_dim %m, %s, dims = [0]\n"                                   \
  "    : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x" columns                                         \
  "xf32>\n"                                                                                           \
  "  %d = stablehlo.subtract %x, %mb : tensor<?x" columns                                             \
  "xf32>\n"                                                                                           \
  "  %e = stablehlo.exponential %d : tensor<?x" columns                                               \
  "xf32>\n"                                                                                           \
  "  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]\n"           \
  "    : (tensor<?x" columns                                                                          \
  "xf32>, tensor<f32>) -> tensor<?xf32>\n"                                                            \
  "  %tb = stablehlo.dynamic_broadcast_in_dim %t, %s, dims = [0]\n"                                   \
  "    : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x" columns                                         \
  "xf32>\n"                                                                                           \
  "  %y = stablehlo.divide %e, %tb : tensor<?x" columns                                               \
  "xf32>\n"                                                                                           \
  "  return %y : tensor<?x" columns                                                                   \
  "xf32>\n"                                                                                           \
  "}\n"

// With so many columns.
#define SOFTMAX_OF(columns) SOFTMAX(columns, "  %k = stablehlo.constant dense<" columns "> : tensor<1xi32>\n")

#endif
