# Warnings, sanitizers and the fuzzers' flags.
option(HEDDLE_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(HEDDLE_FUZZ "build the libFuzzer targets (clang only)" OFF)

add_library(heddle_flags INTERFACE)
target_include_directories(heddle_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_options(heddle_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-missing-field-initializers>
  -ffp-contract=off -fno-strict-aliasing)
target_compile_definitions(heddle_flags INTERFACE _GNU_SOURCE)

if(HEDDLE_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(HEDDLE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
