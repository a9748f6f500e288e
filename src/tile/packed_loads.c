// The first element of a byte has its lowest bits.
#include "tile/packed_loads.h"

#include "kernel/sizes.h"
#include "tile/structured.h"

bool packed_loads_shares_bytes(dtype t) { return dtype_is_integer(t) && dtypes[t].bits < 8; }

dtype packed_loads_held(dtype t) {
  if (!packed_loads_shares_bytes(t)) return t;
  return dtypes[t].class == CLASS_SIGNED ? DTYPE_S8 : DTYPE_U8;
}

MlirType packed_loads_bytes(MlirContext context, const shape *s) {
  const int64_t bytes = kernel_buffer_bytes(s);
  return mlirRankedTensorTypeGet(1, &bytes, mlirIntegerTypeGet(context, 8), mlirAttributeGetNull());
}

// The element's number in row-major order.
static MlirValue number_of(ir_builder *body, const shape *s) {
  MlirValue number = ir_index(body, 0);
  for (int d = 0; d < s->rank; d++) {
    MlirValue before = ir_binary(body, "arith.muli", number, ir_index(body, s->dims[d]));
    number = ir_binary(body, "arith.addi", before, structured_index(body, d));
  }
  return number;
}

MlirValue packed_loads_unpack(ir_builder *b, MlirValue bytes, const shape *s) {
  const int bits = dtypes[s->dtype].bits, each = 8 / bits;
  MlirType byte = mlirIntegerTypeGet(b->context, 8);
  MlirAffineMap identity = structured_identity(b->context, s->rank);
  MlirValue empty = structured_empty(b, s->rank, s->dims, byte);
  const structured_op op = {.output_count = 1, .outputs = &empty, .maps = &identity, .loop_count = s->rank};
  ir_builder body;
  MlirOperation made = structured_begin(b, &op, &body);
  MlirValue number = number_of(&body, s), count = ir_index(&body, each);
  MlirValue at[] = {bytes, ir_binary(&body, "arith.divui", number, count)};
  MlirValue all = ir_value(&body, "tensor.extract", byte, 2, at);
  // Its bits go to the top of the byte, from where they are extended.
  MlirValue last =
      ir_binary(&body, "arith.subi", ir_index(&body, each - 1), ir_binary(&body, "arith.remui", number, count));
  MlirValue above =
      ir_cast(&body, "arith.index_cast", byte, ir_binary(&body, "arith.muli", last, ir_index(&body, bits)));
  MlirValue on_top = ir_binary(&body, "arith.shli", all, above);
  const char *extend = dtypes[s->dtype].class == CLASS_SIGNED ? "arith.shrsi" : "arith.shrui";
  MlirValue value = ir_binary(&body, extend, on_top, ir_int(&body, byte, 8 - bits));
  structured_yield(&body, 1, &value);
  return ir_result(made, 0);
}
