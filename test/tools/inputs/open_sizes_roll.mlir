// As JAX rolls rows by one: -1 modulo n is spelled with a remainder towards zero.
func.func public @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %by = stablehlo.constant dense<-1> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %rest = stablehlo.remainder %by, %n : tensor<i32>
  %is_rest = stablehlo.compare NE, %rest, %none : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %is_below = stablehlo.compare LT, %rest, %none : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %is_negative = stablehlo.compare LT, %n, %none : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %differ = stablehlo.compare NE, %is_below, %is_negative : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %moves = stablehlo.and %differ, %is_rest : tensor<i1>
  %more = stablehlo.add %rest, %n : tensor<i32>
  %at = stablehlo.select %moves, %more, %rest : tensor<i1>, tensor<i32>
  %at1 = stablehlo.reshape %at : (tensor<i32>) -> tensor<1xi32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %start = stablehlo.concatenate %zero, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %middle = stablehlo.concatenate %at1, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %cut = stablehlo.concatenate %at1, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %end = stablehlo.concatenate %n1, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %last = stablehlo.real_dynamic_slice %x, %middle, %end, %ones : (tensor<?x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x2xf32>
  %first = stablehlo.real_dynamic_slice %x, %start, %cut, %ones : (tensor<?x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x2xf32>
  %y = stablehlo.concatenate %last, %first, dim = 0 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
