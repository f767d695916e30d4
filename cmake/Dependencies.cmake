# Every library that the rooms use. `dev` installs them and names the places; CMake by hand finds them in the usual cache.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED)
# Before Torch, which otherwise defines an empty protobuf::libprotobuf.
find_package(Protobuf REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(pugixml REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(GTest REQUIRED)
find_program(PYTHON_PROGRAM python3 REQUIRED)

set(SYNCLINE_VENV "$ENV{HOME}/.cache/syncline/venv" CACHE PATH "Virtual environment with LibTorch and the CUDA toolkit")
set(SYNCLINE_TORCH_DIR "" CACHE PATH "Another LibTorch: the folder that holds share/cmake/Torch")

file(GLOB site_packages "${SYNCLINE_VENV}/lib/python3.*/site-packages")
if(SYNCLINE_TORCH_DIR)
  set(Torch_DIR "${SYNCLINE_TORCH_DIR}/share/cmake/Torch")
else()
  set(Torch_DIR "${site_packages}/torch/share/cmake/Torch")
endif()

# LibTorch's own CMake files look for the toolkit, with CMake's old module and the new one, and enable the CUDA language.
set(cuda_root "${site_packages}/nvidia/cu13")
if(EXISTS "${cuda_root}/bin/nvcc")
  set(CUDA_TOOLKIT_ROOT_DIR "${cuda_root}")
  set(CUDAToolkit_ROOT "${cuda_root}")
  set(CMAKE_CUDA_COMPILER "${cuda_root}/bin/nvcc")
endif()
set(CMAKE_CUDA_STANDARD 17)  # CMake 3.25 knows no 20 for CUDA
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # the one that LibTorch loads
set(TORCH_CUDA_ARCH_LIST "7.5;8.0;9.0;10.0;12.0+PTX")  # the chips that this LibTorch runs on
# The same for our own kernels; `native` is quicker to build where the chip is at hand.
set(SYNCLINE_CUDA_ARCHITECTURES "75-real;80-real;90-real;100-real;120" CACHE STRING "Chips that the CUDA kernels are compiled for")
find_package(Torch REQUIRED)
if(SYNCLINE_CUDA)
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()

# The NCCL that LibTorch loads lies beside it; another version must not come into the same process.
set(SYNCLINE_NCCL OFF)
if(SYNCLINE_CUDA)
  get_filename_component(nccl_root "${Torch_DIR}/../../../../nvidia/nccl" ABSOLUTE)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS "${nccl_root}/include")
  find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS "${nccl_root}/lib")
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    set(SYNCLINE_NCCL ON)
    add_library(syncline_nccl_library INTERFACE)
    target_include_directories(syncline_nccl_library SYSTEM INTERFACE "${NCCL_INCLUDE_DIR}")
    target_link_libraries(syncline_nccl_library INTERFACE "${NCCL_LIBRARY}")
  else()
    message(STATUS "No NCCL: several GPUs are summed over by plain copies")
  endif()
endif()

# Folders of the machine that LibTorch was built on; they would end up where our programs look for libraries.
if(TARGET caffe2::mkl)
  set_property(TARGET caffe2::mkl PROPERTY INTERFACE_LINK_DIRECTORIES "")
endif()
