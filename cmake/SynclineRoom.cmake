# How the rooms declare what they build.

include(GoogleTest)

# gcc 12 at -O3 warns of overlaps and overflows in inlined library code that are not there (GCC bugs 105651, 105329).
add_library(syncline_options INTERFACE)
target_include_directories(syncline_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(syncline_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wno-restrict -Wno-stringop-overflow $<$<BOOL:${SYNCLINE_WERROR}>:-Werror>>)

# syncline_library(NAME SOURCES file... [PROTOS file...] [DEPENDS target...] [TORCH])
#
# The static library syncline_NAME. Includes are written from the repository's root. DEPENDS are seen by whoever links it.
# PROTOS become NAME.pb.h, included as "room/NAME.pb.h". TORCH gives its own files, and nobody else's, LibTorch: its include
# folder has copies of Protobuf and fmt.
function(syncline_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "SOURCES;PROTOS;DEPENDS")
  set(target syncline_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  target_link_libraries(${target} PUBLIC syncline_options ${arg_DEPENDS})
  if(arg_PROTOS)
    syncline_compile_protos(${target} ${arg_PROTOS})
  endif()
  if(arg_TORCH)
    syncline_give_torch(${target})
  endif()
endfunction()

function(syncline_give_torch target)
  # libtorch.so exports parts of a std::filesystem that crash when called; the C++ library is named before it, so that ours is found first.
  target_link_libraries(${target} PRIVATE stdc++ torch)
  set_target_properties(${target} PROPERTIES JOB_POOL_COMPILE torch)
endfunction()

# What protoc writes is compiled apart: our warnings are not for it.
function(syncline_compile_protos target)
  foreach(proto ${ARGN})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${proto})
    string(REGEX REPLACE "\\.proto$" "" stem ${PROJECT_BINARY_DIR}/${path})
    add_custom_command(
      OUTPUT ${stem}.pb.cc ${stem}.pb.h
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${PROJECT_BINARY_DIR} ${path}
      DEPENDS ${PROJECT_SOURCE_DIR}/${path}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      COMMENT "protoc ${path}"
      VERBATIM)
    list(APPEND generated ${stem}.pb.cc ${stem}.pb.h)
  endforeach()
  add_library(${target}_proto OBJECT ${generated})
  target_include_directories(${target}_proto SYSTEM PUBLIC ${PROJECT_BINARY_DIR})
  target_link_libraries(${target}_proto PUBLIC protobuf::libprotobuf)
  target_link_libraries(${target} PUBLIC ${target}_proto)
endfunction()

# syncline_test(NAME SOURCES file... DEPENDS target... [LABELS long] [TORCH])
#
# A GoogleTest program, its tests known to ctest as NAME.Suite.Test and run in the repository's root. What takes longer than a
# few seconds goes into a test of its own with LABELS long, which `./dev test` leaves out. TORCH as above.
function(syncline_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "LABELS" "SOURCES;DEPENDS")
  set(target ${name}_test)
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE syncline_options ${arg_DEPENDS} GTest::gmock GTest::gtest_main)
  if(arg_TORCH)
    syncline_give_torch(${target})
  endif()
  set(timeout 120)
  if(arg_LABELS STREQUAL "long")
    set(timeout 1800)
  endif()
  gtest_discover_tests(${target}
    TEST_PREFIX ${name}.
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60  # LibTorch's libraries load slowly from a cold disk
    PROPERTIES TIMEOUT ${timeout} LABELS "${arg_LABELS}")
endfunction()
