// RUN: emitters_opt %s -split-input-file -verify-diagnostics

func.func @no_binding(%c0: index) {
  // expected-error@+1 {{'hal.interface.load.tensor' op names a binding that does not exist}}
  %0 = hal.interface.load.tensor @io::@arg1, offset = %c0 : tensor<4xf32>
  return
}
hal.interface @io {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
}

// -----

func.func @names_the_interface(%c0: index) {
  // expected-error@+1 {{'iree.placeholder' op names a binding that does not exist}}
  %0 = iree.placeholder for "interface buffer" {binding = @io} : memref<4xf32>
  return
}
hal.interface @io {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
}

// -----

func.func @writes_an_input(%c0: index) {
  %0 = hal.interface.load.tensor @io::@arg0, offset = %c0 : tensor<4xf32>
  // expected-error@+1 {{writes a binding whose access is "Read"}}
  hal.interface.store.tensor %0, @io::@arg0, offset = %c0 : tensor<4xf32>
  return
}
hal.interface @io {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
}

// -----

func.func @reads_a_result(%c0: index) {
  // expected-error@+1 {{reads a binding whose access is "Write|Discard"}}
  %0 = hal.interface.load.tensor @io::@ret0, offset = %c0 : tensor<4xf32>
  return
}
hal.interface @io {
  hal.interface.binding @ret0, set=0, binding=0, type="StorageBuffer", access="Write|Discard"
}

// -----

hal.interface @io {
  // expected-error@+1 {{found access "Reed", wanted "Read", "Write", "Read|Write" or "Write|Discard"}}
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Reed"
}

// -----

hal.interface @io {
  // expected-error@+1 {{found type "Buffer", wanted "StorageBuffer" or "UniformBuffer"}}
  hal.interface.binding @arg0, set=0, binding=0, type="Buffer", access="Read"
}

// -----

hal.interface @io {
  // expected-error@+1 {{set and binding must not be negative}}
  hal.interface.binding @arg0, set=0, binding=-1, type="StorageBuffer", access="Read"
}

// -----

// expected-error@+1 {{expects parent op 'hal.interface'}}
hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"

// -----

hal.interface @io {
  // expected-note@+1 {{see existing symbol definition here}}
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  // expected-error@+1 {{redefinition of symbol named 'arg0'}}
  hal.interface.binding @arg0, set=0, binding=1, type="StorageBuffer", access="Read"
}
