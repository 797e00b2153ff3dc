# nvmove_precompile(TARGET [HEADER...]): with NVMOVE_QUICK_BUILD, what most sources of the tools include of the
# standard library and LLVM, and HEADERs.
function(nvmove_precompile target)
  if(NVMOVE_QUICK_BUILD)
    target_precompile_headers(${target} PRIVATE <algorithm> <filesystem> <functional> <map> <optional> <set> <string>
      <vector> <llvm/ADT/STLExtras.h> <llvm/ADT/StringExtras.h> <llvm/ADT/StringMap.h> <llvm/Support/Error.h>
      <llvm/Support/FileSystem.h> <llvm/Support/FormatVariadic.h> <llvm/Support/JSON.h> <llvm/Support/MemoryBuffer.h>
      <llvm/Support/Path.h> <llvm/Support/raw_ostream.h> ${ARGN})
  endif()
endfunction()

# nvmove_join_sources(TARGET): with NVMOVE_QUICK_BUILD, eight of its sources are compiled at once. Names of the
# anonymous namespaces in one room differ for it.
function(nvmove_join_sources target)
  if(NVMOVE_QUICK_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# nvmove_quick_to_build(TARGET): what runs seldom, or for a moment, is not optimised in the presets with assertions.
function(nvmove_quick_to_build target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O0>)
endfunction()

# nvmove_room(NAME [QUICK] USES ROOM...): one small static library per folder of src/. QUICK: nvmove_quick_to_build.
# The rooms that NAME may include are exactly the ones listed after USES; tests/tidy checks the
# #include lines against the same list in ARCHITECTURE.md.
function(nvmove_room name)
  cmake_parse_arguments(ROOM "QUICK" "" "USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  add_library(nvmove_${name} STATIC ${sources})
  target_include_directories(nvmove_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_include_directories(nvmove_${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(nvmove_${name} PUBLIC ${LLVM_DEFINITIONS_LIST})
  target_compile_options(nvmove_${name} PUBLIC -fno-rtti)
  target_compile_options(nvmove_${name} PRIVATE -Wall -Wextra -Wno-unused-parameter)
  foreach(used ${ROOM_USES})
    target_link_libraries(nvmove_${name} PUBLIC nvmove_${used})
  endforeach()
  target_link_libraries(nvmove_${name} PUBLIC Threads::Threads)
  nvmove_join_sources(nvmove_${name})
  set(same_headers support) # of the first room that is compiled with the same options
  if(ROOM_QUICK)
    nvmove_quick_to_build(nvmove_${name})
    set(same_headers port)
  endif()
  if(name STREQUAL same_headers)
    nvmove_precompile(nvmove_${name})
  elseif(NVMOVE_QUICK_BUILD)
    target_precompile_headers(nvmove_${name} REUSE_FROM nvmove_${same_headers})
  endif()
endfunction()
