# Warnings, sanitizers and the fuzzers' flags.
option(HEDDLE_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(HEDDLE_THREAD_SANITIZE "ThreadSanitizer; only for the targets that thread_tests builds" OFF)
option(HEDDLE_FUZZ "build the libFuzzer targets (clang only)" OFF)

# All code may stand in a shared library, which shows what include/heddle declares and nothing else. C++ keeps what its
# compiler shows by itself: MLIR finds types by it.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)

add_library(heddle_flags INTERFACE)
target_include_directories(heddle_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_options(heddle_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Werror $<IF:$<C_COMPILER_ID:GNU>,-Wshadow=local;-Wno-maybe-uninitialized;-Wno-array-bounds,-Wshadow> -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-missing-field-initializers>
  -ffp-contract=off -fno-strict-aliasing)
target_compile_definitions(heddle_flags INTERFACE _GNU_SOURCE)

if(HEDDLE_SANITIZE)
  # Not `function`: it reads the eight bytes in front of a called function, which for compiled kernels may lie on no page.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=function -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined -fno-sanitize=function)
endif()
if(HEDDLE_THREAD_SANITIZE)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
  add_custom_target(thread_tests)  # the unit tests of modules that start threads, with nothing else
endif()
if(HEDDLE_FUZZ)
  # Without the tracing of comparisons, which takes half of the time: our mutators do not use it.
  add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp)
  add_custom_target(fuzzers)  # all of them, with nothing else
endif()

# How tests run under the sanitizers, for ctest here and for lit through test/lit.site.cfg.py.in: a report is an ordinary
# failure with its own exit status, and a size the user's program decides may be refused instead of ending the process.
# LeakSanitizer stays on; what LLVM keeps until the end of the process is listed in scripts/lsan.supp. A child of fork
# may start threads under ThreadSanitizer, which scripts/tsan.supp tells about OpenBLAS's locks.
set(HEDDLE_TEST_ENVIRONMENT
  "ASAN_OPTIONS=exitcode=99:allocator_may_return_null=1:detect_stack_use_after_return=0"
  "LSAN_OPTIONS=print_suppressions=0:suppressions=${CMAKE_SOURCE_DIR}/scripts/lsan.supp"
  "UBSAN_OPTIONS=print_stacktrace=1"
  "TSAN_OPTIONS=exitcode=99:die_after_fork=0:suppressions=${CMAKE_SOURCE_DIR}/scripts/tsan.supp"
  "LC_ALL=C")
