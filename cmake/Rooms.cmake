# nvmove_room(NAME USES ROOM...): one small static library per folder of src/.
# The rooms that NAME may include are exactly the ones listed after USES; tests/tidy checks the
# #include lines against the same list in ARCHITECTURE.md.
function(nvmove_room name)
  cmake_parse_arguments(ROOM "" "" "USES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
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
endfunction()
