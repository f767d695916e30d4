# How everything is compiled and linked.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Assertions are part of the design and stay on (no NDEBUG); line tables are what a backtrace needs.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
foreach(language C CXX CUDA)
  set(CMAKE_${language}_FLAGS_RELEASE "-O3 -g1")
endforeach()

# The compiler cache is shared by all clones: no path of this one in what it keeps.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>)
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  foreach(language C CXX CUDA)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  endforeach()
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options($<HOST_LINK:-fuse-ld=mold>)
endif()

# A file that includes torch/torch.h takes 1.5 GB to compile; targets that do so name this pool.
cmake_host_system_information(RESULT memory_mb QUERY TOTAL_PHYSICAL_MEMORY)
math(EXPR torch_jobs "${memory_mb} / 4000")
if(torch_jobs LESS 1)
  set(torch_jobs 1)
elseif(torch_jobs GREATER 16)
  set(torch_jobs 16)
endif()
set_property(GLOBAL APPEND PROPERTY JOB_POOLS torch=${torch_jobs})
