// Mutators that know what they change, so that most of what they make still gets past the reader.
//
// Each changes `size` bytes in place and returns the new size, at most `max_size`; the same seed makes the same change.
// What cannot be taken apart is returned as it is, and the caller falls back on changing bytes. Safe from any thread.
#ifndef HEDDLE_FUZZ_MUTATE_H_
#define HEDDLE_FUZZ_MUTATE_H_

#include <stddef.h>
#include <stdint.h>

// Text of any of our languages (HLO, MLIR, LHLO, maps, text protos): words, numbers and lists are changed as such, with
// words from the tables of operations, attributes and element types.
size_t mutate_text(uint8_t *data, size_t size, size_t max_size, uint64_t seed);
// A line of `other` goes among those of `data`, or in place of one of them.
size_t mutate_text_with(uint8_t *data, size_t size, const uint8_t *other, size_t other_size, size_t max_size,
                        uint64_t seed);

// Protocol buffers: one field of an HloProto, an HloModuleProto or an HloSnapshot, at any depth.
size_t mutate_proto(uint8_t *data, size_t size, size_t max_size, uint64_t seed);

// MLIR bytecode: a number inside a section, or a stretch of a section with its length kept true.
size_t mutate_bytecode(uint8_t *data, size_t size, size_t max_size, uint64_t seed);

// Saved programs: one field of the record, or a byte of an image, with checksums that fit.
size_t mutate_saved(uint8_t *data, size_t size, size_t max_size, uint64_t seed);

#endif
