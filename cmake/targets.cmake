# The library libheddle (static and shared), made of all folders, and the program heddle on top of it.
# SPDX-License-Identifier: MIT
set(objects)
foreach(folder ${HEDDLE_FOLDERS})
	get_target_property(type heddle_${folder} TYPE)
	if(type STREQUAL STATIC_LIBRARY)
		list(APPEND objects $<TARGET_OBJECTS:heddle_${folder}>)
	endif()
endforeach()
set(libraries isl_library cyaml_library jansson_library ${CMAKE_DL_LIBS} m pthread)

add_library(heddle_static STATIC ${objects})
set_target_properties(heddle_static PROPERTIES OUTPUT_NAME heddle LINKER_LANGUAGE C)
target_include_directories(heddle_static INTERFACE ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(heddle_static PUBLIC ${libraries})

# Only include/heddle/heddle.h is visible, so that a process may use isl itself.
add_library(heddle_shared SHARED ${objects})
set_target_properties(heddle_shared PROPERTIES OUTPUT_NAME heddle LINKER_LANGUAGE C SOVERSION 0
	VERSION ${PROJECT_VERSION} LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/libheddle.map EXCLUDE_FROM_ALL ON)
target_include_directories(heddle_shared INTERFACE ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(heddle_shared PRIVATE ${libraries})
target_link_options(heddle_shared PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/libheddle.map)

get_target_property(type heddle_cli TYPE)
if(type STREQUAL STATIC_LIBRARY)
	if(NOT HEDDLE_STATIC) # Debian's archives are not all position-independent
		set_target_properties(heddle_shared PROPERTIES EXCLUDE_FROM_ALL OFF)
	endif()
	add_executable(heddle program/main.c)
	target_link_libraries(heddle PRIVATE heddle_static)
	target_compile_options(heddle PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
		$<$<BOOL:${HEDDLE_WERROR}>:-Werror>)
	if(HEDDLE_STATIC)
		target_link_options(heddle PRIVATE -static-libgcc)
	endif()
	include(cmake/install.cmake)
endif()
