// What verifiers in C say: text on the heap, which the shell in C++ frees.
#ifndef HEDDLE_DIALECT_MESSAGE_H_
#define HEDDLE_DIALECT_MESSAGE_H_

// Never null, but without memory.
char *message_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
