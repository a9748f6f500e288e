// The conformance corpus on the interpreter.
#include "eval/corpus_testing.h"

int main(int argc, char **argv) { return corpus_main(argc, argv); }
