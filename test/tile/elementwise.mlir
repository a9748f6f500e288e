// The second dispatch region of document 003.
hal.executable.target "vulkan*" {
  module {
    func.func @main_ex_dispatch() {
      %c0 = arith.constant 0 : index
      %0 = hal.interface.load.tensor @legacy_io::@arg0, offset = %c0 : tensor<10x15xf32>
      %1 = hal.interface.load.tensor @legacy_io::@arg1, offset = %c0 : tensor<10x15xf32>
      %2 = hal.interface.load.tensor @legacy_io::@arg2, offset = %c0 : tensor<15xf32>
      %3 = "mhlo.add"(%0, %1) : (tensor<10x15xf32>, tensor<10x15xf32>) -> tensor<10x15xf32>
      %4 = "mhlo.broadcast"(%2) : (tensor<15xf32>) -> tensor<10x15xf32>
      %5 = "mhlo.multiply"(%3, %4) : (tensor<10x15xf32>, tensor<10x15xf32>) -> tensor<10x15xf32>
      hal.interface.store.tensor %5, @legacy_io::@ret0, offset = %c0 : tensor<10x15xf32>
      return
    }
    hal.interface @legacy_io attributes {sym_visibility = "private"} {
      hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
      hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
      hal.interface.binding @arg2, set=0, binding=2, type="StorageBuffer", access="Read"
      hal.interface.binding @ret0, set=0, binding=3, type="StorageBuffer", access="Write|Discard"
    }
  }
}
