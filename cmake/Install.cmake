# What programs outside this tree use: libnvmove as an archive, pkg-config's and CMake's descriptions.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The archive that nvmove-cc links, and nvmove. In the dev preset libnvmove itself is built with sanitizers for its
# own tests, which a program compiled by nvmove-cc does not bring along, so this one never is. Nor does it keep frame
# pointers in one preset only: what follows them (trace_points.c) is tested as it is shipped. Nor has it debug information
# in one preset only, which each link of a program would copy.
get_target_property(runtime_sources nvmove_runtime SOURCES)
get_target_property(runtime_folder nvmove_runtime SOURCE_DIR)
list(TRANSFORM runtime_sources PREPEND "${runtime_folder}/" REGEX "^[^/]")
list(FILTER runtime_sources EXCLUDE REGEX "/(fsck|admin)/")
add_library(nvmove_archive STATIC ${runtime_sources})
set_target_properties(nvmove_archive PROPERTIES
  OUTPUT_NAME nvmove
  ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/nvmove
  POSITION_INDEPENDENT_CODE ON
  C_STANDARD 11
  C_STANDARD_REQUIRED ON)
target_include_directories(nvmove_archive PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${runtime_folder})
target_link_libraries(nvmove_archive PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(nvmove_archive INTERFACE -Wl,-u,__nvmi_locks) # its linked.c
target_compile_options(nvmove_archive PRIVATE -O2 -g0 -fno-sanitize=all -fomit-frame-pointer)

# What looks at pools, mends, copies and converts them: tools link it before libnvmove. So does nvmove-cc, for programs
# that call it.
file(GLOB admin_sources CONFIGURE_DEPENDS ${runtime_folder}/fsck/*.c ${runtime_folder}/admin/*.c)
add_library(nvmove_admin_archive STATIC ${admin_sources})
set_target_properties(nvmove_admin_archive PROPERTIES
  OUTPUT_NAME nvmove_admin
  ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/nvmove
  POSITION_INDEPENDENT_CODE ON
  C_STANDARD 11
  C_STANDARD_REQUIRED ON)
target_include_directories(nvmove_admin_archive PRIVATE ${runtime_folder})
target_link_libraries(nvmove_admin_archive PUBLIC nvmove_archive)
target_compile_options(nvmove_admin_archive PRIVATE -O2 -g0 -fno-sanitize=all -fomit-frame-pointer)

# What programs compiled with --nvmove-trace=raw, and with --nvmove-trace, are linked with as well; and what
# those compiled with --nvmove-observe are linked with instead of libnvmove.
foreach(room raw outputs observe)
  file(GLOB ${room}_sources CONFIGURE_DEPENDS ${runtime_folder}/${room}/*.c)
  add_library(nvmove_${room}_archive STATIC ${${room}_sources})
  set_target_properties(nvmove_${room}_archive PROPERTIES
    OUTPUT_NAME nvmove_${room}
    ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/nvmove
    POSITION_INDEPENDENT_CODE ON
    C_STANDARD 11
    C_STANDARD_REQUIRED ON)
  target_include_directories(nvmove_${room}_archive PRIVATE ${CMAKE_SOURCE_DIR}/include ${runtime_folder})
  target_compile_options(nvmove_${room}_archive PRIVATE
    -O2 -g0 -fno-sanitize=all -Wall -Wextra -Werror -Wstrict-prototypes)
endforeach()
# What <stdio.h> and <fcntl.h> make of functions with _FORTIFY_SOURCE is no function to define.
target_compile_options(nvmove_outputs_archive PRIVATE -fno-omit-frame-pointer -U_FORTIFY_SOURCE)
target_compile_options(nvmove_observe_archive PRIVATE -fno-omit-frame-pointer -fno-optimize-sibling-calls
  -fno-builtin -U_FORTIFY_SOURCE -D__NO_INLINE__)

install(TARGETS nvmove_archive nvmove_admin_archive nvmove_raw_archive nvmove_outputs_archive nvmove_observe_archive
  ARCHIVE)
# The names of both, for links of libraries that allow no others to be undefined (tools/nvmove-cc/Undefined.h).
set(undefined ${CMAKE_BINARY_DIR}/share/nvmove/libnvmove.undefined)
add_custom_command(TARGET nvmove_admin_archive POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/share/nvmove
  COMMAND sh -c "${CMAKE_NM} -g --defined-only \"$1\" \"$2\" | sed -n \"s/^.* [A-Z] \\(_*nvm_.*\\)/--ignore-unresolved-symbol=\\1/p\" | sort -u >\"$3\""
    sh $<TARGET_FILE:nvmove_archive> $<TARGET_FILE:nvmove_admin_archive> ${undefined}
  BYPRODUCTS ${undefined} VERBATIM)
install(FILES ${undefined} DESTINATION ${CMAKE_INSTALL_DATADIR}/nvmove)

string(REGEX REPLACE "[^/]+" ".." NVMOVE_PC_PREFIX "${CMAKE_INSTALL_LIBDIR}/pkgconfig") # it may be lib/MACHINE
configure_file(${CMAKE_CURRENT_LIST_DIR}/nvmove.pc.in ${CMAKE_BINARY_DIR}/nvmove.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/nvmove.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/nvmove)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/nvmoveConfig.cmake.in
  ${CMAKE_BINARY_DIR}/nvmoveConfig.cmake INSTALL_DESTINATION ${package}
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/nvmoveConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/nvmoveConfig.cmake ${CMAKE_BINARY_DIR}/nvmoveConfigVersion.cmake
  DESTINATION ${package})
