# What `cmake --install` puts where, and the Debian packages that `cpack` makes of it: heddle (the tools), libheddle and
# libheddle-runtime (what programs run with), libheddle-dev (what programs are built with).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(libraries)
foreach(library libheddle libheddle-runtime)
  if(TARGET ${library})
    list(APPEND libraries ${library})
  endif()
endforeach()
if(NOT libraries)
  return()  # a sanitized build, which is not for installing
endif()

# --- tools, with the manual pages and completions that are made of what they say of themselves

set(tools)
foreach(tool heddle heddle-run run_hlo_module hlo-opt fusion_to_mlir emitters_opt test_correctness)
  if(TARGET ${tool})
    list(APPEND tools ${tool})
  endif()
endforeach()
install(TARGETS ${tools} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT heddle)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(pages ${CMAKE_BINARY_DIR}/help)
set(tool_files)
foreach(tool ${tools})
  list(APPEND tool_files $<TARGET_FILE:${tool}>)
endforeach()
add_custom_command(OUTPUT ${pages}/stamp
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/help_pages.py --version=${HEDDLE_VERSION} --out=${pages}
          ${tool_files}
  COMMAND ${CMAKE_COMMAND} -E touch ${pages}/stamp
  DEPENDS ${tools} ${CMAKE_SOURCE_DIR}/scripts/help_pages.py VERBATIM)
add_custom_target(help_pages ALL DEPENDS ${pages}/stamp)
install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT heddle)
install(FILES ${pages}/heddle.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME heddle
  COMPONENT heddle)
install(FILES ${pages}/_heddle DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT heddle)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT heddle)

# --- libraries and what finds them

# What pkg-config says follows the file's own place, so that an installed tree can be moved; folders that were given as
# absolute paths stay where they are.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up "${up}")
set(PKG_PREFIX "\${pcfiledir}/${up}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(PKG_PREFIX "${CMAKE_INSTALL_PREFIX}")
endif()
foreach(folder LIBDIR INCLUDEDIR)
  set(PKG_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    set(PKG_${folder} "${CMAKE_INSTALL_${folder}}")
  endif()
endforeach()
foreach(library ${libraries})
  string(REPLACE "lib" "" name ${library})
  install(TARGETS ${library} EXPORT heddle-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${library} NAMELINK_COMPONENT libheddle-dev)
  set(PKG_NAME ${name})
  configure_file(cmake/heddle.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT libheddle-dev)
endforeach()
install(DIRECTORY include/heddle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libheddle-dev FILES_MATCHING
  PATTERN "*.h")
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(EXPORT heddle-targets NAMESPACE heddle:: DESTINATION ${config_folder} COMPONENT libheddle-dev)
configure_package_config_file(cmake/heddle-config.cmake.in heddle-config.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(heddle-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heddle-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/heddle-config-version.cmake
  DESTINATION ${config_folder} COMPONENT libheddle-dev)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle COMPONENT libheddle-dev)

# --- packages

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_VERSION ${HEDDLE_VERSION})
set(CPACK_PACKAGE_CONTACT "Heddle <heddle@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiler for tensor programs (HLO, StableHLO)")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL heddle ${libraries} libheddle-dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# The packages' own libraries are found where they are built.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(own_libraries)
foreach(component heddle ${libraries} libheddle-dev)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION libs)
  if(component IN_LIST libraries)
    list(APPEND own_libraries "${component} (= ${HEDDLE_VERSION})")
  endif()
  # Loaded when a program needs them (lib/external.def), so that no link names them.
  if(NOT component STREQUAL libheddle-dev)
    set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS
      "libdnnl2, libopenblas0, libfftw3-double3, libfftw3-single3, liblapacke, libgomp1")
    set(CPACK_DEBIAN_${upper}_PACKAGE_SUGGESTS "libvulkan1")
  endif()
endforeach()
set(CPACK_DEBIAN_HEDDLE_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_LIBHEDDLE-DEV_PACKAGE_SECTION libdevel)
list(JOIN own_libraries ", " CPACK_DEBIAN_LIBHEDDLE-DEV_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_LIBHEDDLE-DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_COMPONENT_HEDDLE_DESCRIPTION "The command heddle and the tools beside it.")
set(CPACK_COMPONENT_LIBHEDDLE_DESCRIPTION "The compiler and the runtime as a library.")
set(CPACK_COMPONENT_LIBHEDDLE-RUNTIME_DESCRIPTION "The runtime for saved programs, without a compiler.")
set(CPACK_COMPONENT_LIBHEDDLE-DEV_DESCRIPTION "Headers, package files and examples for programs that use Heddle.")
include(CPack)
