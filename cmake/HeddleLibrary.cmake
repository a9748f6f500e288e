# heddle_library(NAME MAP file LIBS libraries...)
#
# Makes the shared library libNAME.so (target libNAME) of static ones. What it shows is what the version script MAP lists,
# and nothing else; that also says what is taken out of the archives. Sanitized builds have no shared libraries: the
# sanitizers' own libraries are linked into programs.
function(heddle_library name)
  cmake_parse_arguments(ARG "" "MAP" "LIBS" ${ARGN})
  if(HEDDLE_SANITIZE OR HEDDLE_THREAD_SANITIZE OR HEDDLE_FUZZ)
    return()
  endif()
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_MAP})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${map})
  file(STRINGS ${map} lines REGEX "^ +heddle_[a-z_0-9]+;$")
  list(TRANSFORM lines REPLACE "^ +(.*);$" "-Wl,--undefined=\\1")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}.c "// Everything in lib${name}.so comes from static libraries.\n")
  add_library(lib${name} SHARED ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
  target_link_libraries(lib${name} PRIVATE ${ARG_LIBS})
  target_link_options(lib${name} PRIVATE ${lines} -Wl,--version-script=${map} -Wl,-z,defs -Wl,-Bsymbolic-functions -Wl,--gc-sections)
  target_include_directories(lib${name} INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  set_target_properties(lib${name} PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME ${name} LINK_DEPENDS ${map}
    VERSION ${HEDDLE_VERSION} SOVERSION ${HEDDLE_SOVERSION} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
endfunction()
