// Looks through operations that move nothing.
#include "kernel/same_bytes.h"

bool same_bytes_kept(const instruction *i) {
  return i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE || i->opcode == HLO_COPY;
}

const instruction *same_bytes_origin(const instruction *i) {
  while (same_bytes_kept(i)) i = i->operands[0];
  return i;
}

const instruction *same_bytes_writer(const instruction *root, int element, int *number) {
  root = same_bytes_origin(root);
  *number = element;
  if (root->opcode != HLO_GET_TUPLE_ELEMENT) return root;
  *number = (int)root->attributes->index;
  return root->operands[0];
}
