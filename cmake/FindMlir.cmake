# MLIR and LLVM 19 as Debian packages them: shared libraries plus static C API archives under one prefix.
set(HEDDLE_LLVM_PREFIX /usr/lib/llvm-19 CACHE PATH "prefix of LLVM and MLIR 19")
file(GLOB mlir_capi ${HEDDLE_LLVM_PREFIX}/lib/libMLIRCAPI*.a)
if(NOT mlir_capi)
  message(FATAL_ERROR "MLIR 19 not found under ${HEDDLE_LLVM_PREFIX}: run `make setup` or install libmlir-19-dev")
endif()

# Only clang++ spells C++ type names as Debian's libMLIR.so does, and MLIR derives the ids of op traits from that
# spelling: with g++ everything links, and every op silently loses its traits (ARCHITECTURE.md, the dialect fence).
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR NOT CMAKE_CXX_COMPILER_VERSION MATCHES "^19\\.")
  message(FATAL_ERROR "Heddle's C++ (src/dialect) needs clang++-19, found ${CMAKE_CXX_COMPILER_ID} "
    "${CMAKE_CXX_COMPILER_VERSION} (${CMAKE_CXX_COMPILER}): configure with -DCMAKE_CXX_COMPILER=clang++-19 "
    "or use the presets. The C compiler is free: gcc or clang.")
endif()

add_library(mlir INTERFACE)
target_include_directories(mlir SYSTEM INTERFACE ${HEDDLE_LLVM_PREFIX}/include)
target_link_libraries(mlir INTERFACE -Wl,--start-group ${mlir_capi} -Wl,--end-group
  ${HEDDLE_LLVM_PREFIX}/lib/libMLIR.so ${HEDDLE_LLVM_PREFIX}/lib/libLLVM-19.so stdc++ m)
target_link_options(mlir INTERFACE -Wl,-rpath,${HEDDLE_LLVM_PREFIX}/lib)
