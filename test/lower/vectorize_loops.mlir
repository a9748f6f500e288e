// RUN: emitters_opt %s -split-input-file -vector-bits=256 -xla-cpu-vectorize-loops | FileCheck %s

// Contiguous reads and writes; the width is two registers of the widest element. 4096 is a multiple of 16: no remainder.
#map = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 4096 + i), domain: tile in [0, 7], i in [0, 4095]">
func.func @contiguous(%in: tensor<32768xf32>, %out: tensor<32768xf32>, %tile: index) -> tensor<32768xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  %r = scf.for %i = %c0 to %c4096 step %c1 iter_args(%iter = %out) -> (tensor<32768xf32>) {
    %d = xla_gpu.apply_indexing #map(%tile)[%i]
    %x = tensor.extract %in[%d] : tensor<32768xf32>
    %y = arith.addf %x, %x : f32
    %n = tensor.insert %y into %iter[%d] : tensor<32768xf32>
    scf.yield %n : tensor<32768xf32>
  }
  return %r : tensor<32768xf32>
}
// CHECK-LABEL: func.func @contiguous
// CHECK:         %[[C16:.*]] = arith.constant 16 : index
// CHECK:         %[[R:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %[[C16]]
// CHECK:           %[[D:.*]] = xla_gpu.apply_indexing #{{.*}}(%arg2)[%[[I]]]
// CHECK:           %[[X:.*]] = vector.transfer_read %arg0[%[[D]]], %{{.*}} {in_bounds = [true]} : tensor<32768xf32>, vector<16xf32>
// CHECK:           %[[Y:.*]] = arith.addf %[[X]], %[[X]] : vector<16xf32>
// CHECK:           vector.transfer_write %[[Y]], %{{.*}}[%[[D]]] {in_bounds = [true]} : vector<16xf32>, tensor<32768xf32>
// CHECK-NOT:     scf.for
// CHECK:         return %[[R]]

// -----

// Groups of three: 24 lanes hold eight whole groups, so that all lanes of an index lie at known places from the first.
#map = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 32 + i floordiv 3 + (i mod 3) * 1024), domain: tile in [0, 7], i in [0, 95]">
#map1 = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 96 + i), domain: tile in [0, 7], i in [0, 95]">
#map2 = #xla_gpu.indexing_map<"(i) -> (i mod 3), domain: i in [0, 95]">
func.func @groups(%in: tensor<3072xf32>, %scale: tensor<3xf32>, %out: tensor<768xf32>, %tile: index) -> tensor<768xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c96 = arith.constant 96 : index
  %r = scf.for %i = %c0 to %c96 step %c1 iter_args(%iter = %out) -> (tensor<768xf32>) {
    %d = xla_gpu.apply_indexing #map(%tile)[%i]
    %to = xla_gpu.apply_indexing #map1(%tile)[%i]
    %c = xla_gpu.apply_indexing #map2(%i)
    %x = tensor.extract %in[%d] : tensor<3072xf32>
    %s = tensor.extract %scale[%c] : tensor<3xf32>
    %y = arith.mulf %x, %s : f32
    %n = tensor.insert %y into %iter[%to] : tensor<768xf32>
    scf.yield %n : tensor<768xf32>
  }
  return %r : tensor<768xf32>
}
// CHECK-LABEL: func.func @groups
// CHECK:         %[[C24:.*]] = arith.constant 24 : index
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %[[C24]]
// CHECK:           %[[D:.*]] = xla_gpu.apply_indexing #{{.*}}(%arg3)[%[[I]]]
// CHECK:           arith.addi %[[D]], %c1024
// CHECK:           arith.addi %[[D]], %c2048
// CHECK:           vector.from_elements {{.*}} : vector<24xf32>
// CHECK:           vector.transfer_write
// CHECK-NOT:     scf.for
// CHECK:         return

// -----

// Groups of three rows of 64: what is the same for many lanes in a row is no reason for other vectors.
#map = #xla_gpu.indexing_map<"(tile)[i] -> ((i floordiv 192) * 64 + i mod 64), domain: tile in [0, 7], i in [0, 767]">
#map1 = #xla_gpu.indexing_map<"(i) -> ((i floordiv 64) mod 3), domain: i in [0, 767]">
func.func @groups_of_rows(%in: tensor<256xf32>, %scale: tensor<3xf32>, %out: tensor<768xf32>, %tile: index) -> tensor<768xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c768 = arith.constant 768 : index
  %r = scf.for %i = %c0 to %c768 step %c1 iter_args(%iter = %out) -> (tensor<768xf32>) {
    %d = xla_gpu.apply_indexing #map(%tile)[%i]
    %c = xla_gpu.apply_indexing #map1(%i)
    %x = tensor.extract %in[%d] : tensor<256xf32>
    %s = tensor.extract %scale[%c] : tensor<3xf32>
    %y = arith.mulf %x, %s : f32
    %n = tensor.insert %y into %iter[%i] : tensor<768xf32>
    scf.yield %n : tensor<768xf32>
  }
  return %r : tensor<768xf32>
}
// CHECK-LABEL: func.func @groups_of_rows
// CHECK:         %[[C16:.*]] = arith.constant 16 : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[C16]]
// CHECK:           vector.transfer_read %{{.*}} : tensor<256xf32>, vector<16xf32>
// CHECK:           vector.transfer_write %{{.*}} : vector<16xf32>, tensor<768xf32>

// -----

// Bounds that are not known: a vector loop over the multiple of the width, then the scalar loop over the rest.
#map = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 64 + i), domain: tile in [0, 15], i in [0, 63]">
func.func @remainder(%in: tensor<1000xf64>, %out: tensor<1000xf64>, %tile: index, %upper: index) -> tensor<1000xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %upper step %c1 iter_args(%iter = %out) -> (tensor<1000xf64>) {
    %d = xla_gpu.apply_indexing #map(%tile)[%i]
    %x = tensor.extract %in[%d] : tensor<1000xf64>
    %n = tensor.insert %x into %iter[%d] : tensor<1000xf64>
    scf.yield %n : tensor<1000xf64>
  }
  return %r : tensor<1000xf64>
}
// CHECK-LABEL: func.func @remainder
// CHECK:         %[[REST:.*]] = arith.remsi %arg3, %{{.*}}
// CHECK:         %[[MAIN:.*]] = arith.subi %arg3, %[[REST]]
// CHECK:         %[[V:.*]] = scf.for %{{.*}} = %{{.*}} to %[[MAIN]] step %{{.*}} iter_args(%{{.*}} = %arg1)
// CHECK:           vector<8xf64>
// CHECK:         scf.for %{{.*}} = %[[MAIN]] to %arg3 step %{{.*}} iter_args(%{{.*}} = %[[V]])
// CHECK:           tensor.extract

// -----

// A value broadcast along the minor dimension is one scalar load; one broadcast along the major dimension is contiguous as
// long as the minor size is a multiple of the width.
#lin = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 256 + i), domain: tile in [0, 7], i in [0, 255]">
#row = #xla_gpu.indexing_map<"(tile)[i] -> ((tile * 256 + i) floordiv 32), domain: tile in [0, 7], i in [0, 255]">
#col = #xla_gpu.indexing_map<"(tile)[i] -> ((tile * 256 + i) mod 32), domain: tile in [0, 7], i in [0, 255]">
func.func @broadcasts(%row: tensor<64xf32>, %col: tensor<32xf32>, %out: tensor<2048xf32>, %tile: index) -> tensor<2048xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %r = scf.for %i = %c0 to %c256 step %c1 iter_args(%iter = %out) -> (tensor<2048xf32>) {
    %d = xla_gpu.apply_indexing #lin(%tile)[%i]
    %a = xla_gpu.apply_indexing #row(%tile)[%i]
    %b = xla_gpu.apply_indexing #col(%tile)[%i]
    %x = tensor.extract %row[%a] : tensor<64xf32>
    %y = tensor.extract %col[%b] : tensor<32xf32>
    %z = arith.mulf %x, %y : f32
    %n = tensor.insert %z into %iter[%d] : tensor<2048xf32>
    scf.yield %n : tensor<2048xf32>
  }
  return %r : tensor<2048xf32>
}
// CHECK-LABEL: func.func @broadcasts
// CHECK:         %[[X:.*]] = tensor.extract %arg0
// CHECK:         %[[Y:.*]] = vector.transfer_read %arg1
// CHECK:         %[[B:.*]] = vector.broadcast %[[X]] : f32 to vector<16xf32>
// CHECK:         arith.mulf %[[B]], %[[Y]]
// CHECK-NOT:     tensor.extract

// -----

// Elements two places apart: a vector of pairs. Three: as many whole vectors, the last of which ends with the last lane's
// element.
#lin = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 64 + i), domain: tile in [0, 3], i in [0, 63]">
#two = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 128 + i * 2), domain: tile in [0, 3], i in [0, 63]">
#three = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 192 + i * 3 + 1), domain: tile in [0, 3], i in [0, 63]">
func.func @near(%in: tensor<768xf64>, %out: tensor<256xf64>, %tile: index) -> tensor<256xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<256xf64>) {
    %d = xla_gpu.apply_indexing #lin(%tile)[%i]
    %e = xla_gpu.apply_indexing #two(%tile)[%i]
    %f = xla_gpu.apply_indexing #three(%tile)[%i]
    %x = tensor.extract %in[%e] : tensor<768xf64>
    %y = tensor.extract %in[%f] : tensor<768xf64>
    %z = arith.mulf %x, %y : f64
    %n = tensor.insert %z into %iter[%d] : tensor<256xf64>
    scf.yield %n : tensor<256xf64>
  }
  return %r : tensor<256xf64>
}
// CHECK-LABEL: func.func @near
// CHECK-NOT:     tensor.extract
// CHECK:         %[[A:.*]] = vector.transfer_read %arg0[{{.*}} vector<16xf64>
// CHECK:         %[[X:.*]] = vector.shuffle %[[A]], %[[A]] [0, 2, 4, 6, 8, 10, 12, 14] : vector<16xf64>, vector<16xf64>
// CHECK:         %[[P:.*]] = vector.transfer_read %arg0[%[[F:.*]]], {{.*}} vector<8xf64>
// CHECK:         %[[F8:.*]] = arith.addi %[[F]], %c8
// CHECK:         %[[Q:.*]] = vector.transfer_read %arg0[%[[F8]]], {{.*}} vector<8xf64>
// CHECK:         %[[PQ:.*]] = vector.shuffle %[[P]], %[[Q]] [0, 3, 6, 9, 12, 15, 0, 0] : vector<8xf64>, vector<8xf64>
// CHECK:         %[[F14:.*]] = arith.addi %[[F]], %c14
// CHECK:         %[[R:.*]] = vector.transfer_read %arg0[%[[F14]]], {{.*}} vector<8xf64>
// CHECK:         %[[Y:.*]] = vector.shuffle %[[PQ]], %[[R]] [0, 1, 2, 3, 4, 5, 12, 15] : vector<8xf64>, vector<8xf64>
// CHECK:         arith.mulf %[[X]], %[[Y]]

// -----

// Real and imaginary parts: both are taken from vectors of pairs, and written as one.
#re = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 128 + i * 2), domain: tile in [0, 3], i in [0, 63]">
#im = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 128 + i * 2 + 1), domain: tile in [0, 3], i in [0, 63]">
func.func @pairs(%in: tensor<512xf64>, %out: tensor<512xf64>, %tile: index) -> tensor<512xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<512xf64>) {
    %a = xla_gpu.apply_indexing #re(%tile)[%i]
    %b = xla_gpu.apply_indexing #im(%tile)[%i]
    %x = tensor.extract %in[%a] : tensor<512xf64>
    %y = tensor.extract %in[%b] : tensor<512xf64>
    %m = tensor.insert %y into %iter[%a] : tensor<512xf64>
    %n = tensor.insert %x into %m[%b] : tensor<512xf64>
    scf.yield %n : tensor<512xf64>
  }
  return %r : tensor<512xf64>
}
// CHECK-LABEL: func.func @pairs
// CHECK-NOT:     tensor.insert
// CHECK:         %[[X:.*]] = vector.shuffle {{.*}} [0, 2, 4, 6, 8, 10, 12, 14] : vector<16xf64>, vector<16xf64>
// CHECK:         %[[Y:.*]] = vector.shuffle {{.*}} [1, 3, 5, 7, 9, 11, 13, 15] : vector<16xf64>, vector<16xf64>
// CHECK:         %[[BOTH:.*]] = vector.shuffle %[[Y]], %[[X]] [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]
// CHECK:         vector.transfer_write %[[BOTH]]
// CHECK-NOT:     tensor.insert

// -----

// Neighbours in falling order: a vector that ends with the first lane's element, turned round.
#lin = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 64 + i), domain: tile in [0, 3], i in [0, 63]">
#back = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 64 - i + 63), domain: tile in [0, 3], i in [0, 63]">
func.func @falling(%in: tensor<256xf64>, %out: tensor<256xf64>, %tile: index) -> tensor<256xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<256xf64>) {
    %d = xla_gpu.apply_indexing #lin(%tile)[%i]
    %e = xla_gpu.apply_indexing #back(%tile)[%i]
    %x = tensor.extract %in[%e] : tensor<256xf64>
    %n = tensor.insert %x into %iter[%d] : tensor<256xf64>
    scf.yield %n : tensor<256xf64>
  }
  return %r : tensor<256xf64>
}
// CHECK-LABEL: func.func @falling
// CHECK-NOT:     tensor.extract
// CHECK:         %[[LAST:.*]] = arith.addi %{{.*}}, %c-7
// CHECK:         %[[X:.*]] = vector.transfer_read %arg0[%[[LAST]]], {{.*}} vector<8xf64>
// CHECK:         vector.shuffle %[[X]], %[[X]] [7, 6, 5, 4, 3, 2, 1, 0] : vector<8xf64>, vector<8xf64>
// CHECK-NOT:     tensor.extract

// -----

// A digit behind others changes every sixteen elements: its fourteen values make no groups of lanes.
#lin = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 448 + i), domain: tile in [0, 3], i in [0, 447]">
#digit = #xla_gpu.indexing_map<"(tile)[i] -> ((tile * 28 + i floordiv 16) mod 14), domain: tile in [0, 3], i in [0, 447]">
func.func @digits(%scale: tensor<14xf32>, %out: tensor<1792xf32>, %tile: index) -> tensor<1792xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c448 = arith.constant 448 : index
  %r = scf.for %i = %c0 to %c448 step %c1 iter_args(%iter = %out) -> (tensor<1792xf32>) {
    %d = xla_gpu.apply_indexing #lin(%tile)[%i]
    %e = xla_gpu.apply_indexing #digit(%tile)[%i]
    %x = tensor.extract %scale[%e] : tensor<14xf32>
    %n = tensor.insert %x into %iter[%d] : tensor<1792xf32>
    scf.yield %n : tensor<1792xf32>
  }
  return %r : tensor<1792xf32>
}
// CHECK-LABEL: func.func @digits
// CHECK:         vector.transfer_write {{.*}} vector<16xf32>, tensor<1792xf32>
// CHECK-NOT:     vector<{{.*}}xf32>, tensor

// -----

// Far strided access loads lane by lane; the index itself becomes a vector where it is data.
#lin = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 64 + i), domain: tile in [0, 3], i in [0, 63]">
#far = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 512 + i * 8), domain: tile in [0, 3], i in [0, 63]">
func.func @strided(%in: tensor<2048xf64>, %out: tensor<256xf64>, %tile: index) -> tensor<256xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<256xf64>) {
    %d = xla_gpu.apply_indexing #lin(%tile)[%i]
    %e = xla_gpu.apply_indexing #far(%tile)[%i]
    %x = tensor.extract %in[%e] : tensor<2048xf64>
    %k = arith.index_cast %d : index to i64
    %f = arith.sitofp %k : i64 to f64
    %z = arith.mulf %x, %f : f64
    %n = tensor.insert %z into %iter[%d] : tensor<256xf64>
    scf.yield %n : tensor<256xf64>
  }
  return %r : tensor<256xf64>
}
// CHECK-LABEL: func.func @strided
// CHECK-COUNT-8: tensor.extract
// CHECK:         vector.from_elements
// CHECK:         arith.index_cast %{{.*}} : index to i64
// CHECK:         vector.broadcast
// CHECK:         arith.sitofp %{{.*}} : vector<8xi64> to vector<8xf64>

// -----

// A condition that varies becomes a select; neighbours in its branches are loaded under a mask.
#map = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 64 + i), domain: tile in [0, 3], i in [0, 63]">
func.func @divergent(%in: tensor<200xf32>, %out: tensor<256xf32>, %tile: index) -> tensor<256xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c200 = arith.constant 200 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<256xf32>) {
    %d = xla_gpu.apply_indexing #map(%tile)[%i]
    %inside = arith.cmpi slt, %d, %c200 : index
    %x = scf.if %inside -> f32 {
      %y = tensor.extract %in[%d] : tensor<200xf32>
      scf.yield %y : f32
    } else {
      scf.yield %zero : f32
    }
    %n = tensor.insert %x into %iter[%d] : tensor<256xf32>
    scf.yield %n : tensor<256xf32>
  }
  return %r : tensor<256xf32>
}
// CHECK-LABEL: func.func @divergent(
// CHECK-NOT:     scf.if
// CHECK:         %[[MASK:.*]] = arith.cmpi slt, %{{.*}} : vector<16xindex>
// CHECK:         %[[X:.*]] = vector.transfer_read %arg0[%{{.*}}], %{{.*}}, %[[MASK]]
// CHECK:         arith.select %[[MASK]], %[[X]], %{{.*}} : vector<16xi1>, vector<16xf32>

// -----

// Where machines have no loads under a mask they go lane by lane with the index made harmless.
#map = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 64 + i), domain: tile in [0, 3], i in [0, 63]">
func.func @divergent_bytes(%in: tensor<200xi8>, %out: tensor<256xi8>, %tile: index) -> tensor<256xi8> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c200 = arith.constant 200 : index
  %zero = arith.constant 0 : i8
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<256xi8>) {
    %d = xla_gpu.apply_indexing #map(%tile)[%i]
    %inside = arith.cmpi slt, %d, %c200 : index
    %x = scf.if %inside -> i8 {
      %y = tensor.extract %in[%d] : tensor<200xi8>
      scf.yield %y : i8
    } else {
      scf.yield %zero : i8
    }
    %n = tensor.insert %x into %iter[%d] : tensor<256xi8>
    scf.yield %n : tensor<256xi8>
  }
  return %r : tensor<256xi8>
}
// CHECK-LABEL: func.func @divergent_bytes
// CHECK-NOT:     scf.if
// CHECK:         %[[MASK:.*]] = arith.cmpi slt, %{{.*}} : vector<64xindex>
// CHECK:         %[[ON:.*]] = vector.extract %[[MASK]][0]
// CHECK:         %[[SAFE:.*]] = arith.select %[[ON]]
// CHECK:         tensor.extract %arg0[%[[SAFE]]]
// CHECK:         arith.select %[[MASK]], %{{.*}} : vector<64xi1>, vector<64xi8>

// -----

// An inner loop with the same bounds for all lanes carries vectors: more registers than others, as the machine has them.
#map = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 64 + i), domain: tile in [0, 3], i in [0, 63]">
#col = #xla_gpu.indexing_map<"(tile, k)[i] -> (k * 256 + tile * 64 + i), domain: tile in [0, 3], k in [0, 9], i in [0, 63]">
func.func @inner_loop(%in: tensor<2560xf32>, %out: tensor<256xf32>, %tile: index) -> tensor<256xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<256xf32>) {
    %d = xla_gpu.apply_indexing #map(%tile)[%i]
    %sum = scf.for %k = %c0 to %c10 step %c1 iter_args(%acc = %zero) -> (f32) {
      %e = xla_gpu.apply_indexing #col(%tile, %k)[%i]
      %x = tensor.extract %in[%e] : tensor<2560xf32>
      %s = arith.addf %acc, %x : f32
      scf.yield %s : f32
    }
    %n = tensor.insert %sum into %iter[%d] : tensor<256xf32>
    scf.yield %n : tensor<256xf32>
  }
  return %r : tensor<256xf32>
}
// CHECK-LABEL: func.func @inner_loop
// CHECK:         scf.for
// CHECK:           scf.for %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (vector<[[WIDTH:32|64]]xf32>)
// CHECK:             vector.transfer_read %arg0
// CHECK:             arith.addf %[[ACC]], %{{.*}} : vector<[[WIDTH]]xf32>
// CHECK:           vector.transfer_write

// -----

// What has no vector form leaves the loop as it was.
#map = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 64 + i), domain: tile in [0, 3], i in [0, 63]">
func.func private @f(complex<f32>) -> complex<f32>
func.func @complex(%in: tensor<256xcomplex<f32>>, %out: tensor<256xcomplex<f32>>, %tile: index) -> tensor<256xcomplex<f32>> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<256xcomplex<f32>>) {
    %d = xla_gpu.apply_indexing #map(%tile)[%i]
    %x = tensor.extract %in[%d] : tensor<256xcomplex<f32>>
    %n = tensor.insert %x into %iter[%d] : tensor<256xcomplex<f32>>
    scf.yield %n : tensor<256xcomplex<f32>>
  }
  return %r : tensor<256xcomplex<f32>>
}
// CHECK: module attributes {xla.scalar_loops}
// CHECK-LABEL: func.func @complex
// CHECK:         scf.for
// CHECK-NOT:     vector
// CHECK:         return

// -----

// A row that is added to: every iteration reads and writes an element of its own.
#map = #xla_gpu.indexing_map<"(row)[i] -> (row * 64 + i), domain: row in [0, 3], i in [0, 63]">
func.func @add_to_row(%in: tensor<64xf32>, %out: tensor<256xf32>, %row: index) -> tensor<256xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<256xf32>) {
    %d = xla_gpu.apply_indexing #map(%row)[%i]
    %x = tensor.extract %in[%i] : tensor<64xf32>
    %y = tensor.extract %iter[%d] : tensor<256xf32>
    %z = arith.addf %y, %x : f32
    %n = tensor.insert %z into %iter[%d] : tensor<256xf32>
    scf.yield %n : tensor<256xf32>
  }
  return %r : tensor<256xf32>
}
// CHECK-LABEL: func.func @add_to_row
// CHECK:         scf.for %{{.*}} iter_args(%[[ITER:.*]] = %arg1)
// CHECK:           vector.transfer_read %[[ITER]]
// CHECK:           vector.transfer_write %{{.*}}, %[[ITER]]

// -----

// A histogram: two iterations may meet in one element, of which the second has to read what the first one wrote.
func.func @histogram(%in: tensor<64xi32>, %out: tensor<256xi32>) -> tensor<256xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<256xi32>) {
    %x = tensor.extract %in[%i] : tensor<64xi32>
    %d = arith.index_cast %x : i32 to index
    %y = tensor.extract %iter[%d] : tensor<256xi32>
    %z = arith.addi %y, %one : i32
    %n = tensor.insert %z into %iter[%d] : tensor<256xi32>
    scf.yield %n : tensor<256xi32>
  }
  return %r : tensor<256xi32>
}
// CHECK: module attributes {xla.scalar_loops}
// CHECK-LABEL: func.func @histogram
// CHECK-NOT:     vector
// CHECK:         return

// -----

// A recurrence: every iteration reads what the one before it wrote.
#before = #xla_gpu.indexing_map<"(i) -> (i), domain: i in [0, 63]">
#map = #xla_gpu.indexing_map<"(i) -> (i + 1), domain: i in [0, 63]">
func.func @recurrence(%out: tensor<65xf32>) -> tensor<65xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<65xf32>) {
    %from = xla_gpu.apply_indexing #before(%i)
    %to = xla_gpu.apply_indexing #map(%i)
    %x = tensor.extract %iter[%from] : tensor<65xf32>
    %y = arith.addf %x, %x : f32
    %n = tensor.insert %y into %iter[%to] : tensor<65xf32>
    scf.yield %n : tensor<65xf32>
  }
  return %r : tensor<65xf32>
}
// CHECK: module attributes {xla.scalar_loops}
// CHECK-LABEL: func.func @recurrence
// CHECK-NOT:     vector
// CHECK:         return
