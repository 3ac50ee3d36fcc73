# bench/replay: judges the cost model by recorded timings.  Not part of the library, not installed.
# SPDX-License-Identifier: MIT
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/replay/*.c)
list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/bench/replay/replay.c)
add_library(heddle_replay STATIC ${sources})
target_link_libraries(heddle_replay PUBLIC heddle_compile pthread m)
add_executable(replay ${CMAKE_SOURCE_DIR}/bench/replay/replay.c)
target_link_libraries(replay PRIVATE heddle_replay)
