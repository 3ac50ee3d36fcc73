# What `cmake --install` puts where, in two components, and the packages that cpack makes of the preset "portable".
#   runtime      the program, manual pages, completion, layers, examples, documents, and heddle_add_kernels() for CMake
#   development  the library, its header and heddle.pc
# SPDX-License-Identifier: MIT
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(HEDDLE_CMAKE_DIR ${CMAKE_INSTALL_DATADIR}/cmake/Heddle)
set(generated ${CMAKE_BINARY_DIR}/installed)

# ---- the program and what it prints about itself ---------------------------------------------------------------------------
install(TARGETS heddle RUNTIME COMPONENT runtime)

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/verbs.c)
file(STRINGS ${CMAKE_SOURCE_DIR}/cli/verbs.c rows REGEX "^\t\\[HEDDLE_VERB_[A-Z_]+\\] = {\"")
set(pages)
find_program(GZIP gzip)
function(heddle_page file)
	if(GZIP)
		set(output ${generated}/${file}.1.gz)
		add_custom_command(OUTPUT ${output} COMMAND heddle man ${ARGN} > ${generated}/${file}.1
			COMMAND ${GZIP} -9nf ${generated}/${file}.1 DEPENDS heddle VERBATIM COMMENT "Manual page ${file}(1)")
	else()
		set(output ${generated}/${file}.1)
		add_custom_command(OUTPUT ${output} COMMAND heddle man ${ARGN} > ${output} DEPENDS heddle VERBATIM
			COMMENT "Manual page ${file}(1)")
	endif()
	set(pages ${pages} ${output} PARENT_SCOPE)
endfunction()
file(MAKE_DIRECTORY ${generated})
heddle_page(heddle)
foreach(row ${rows})
	string(REGEX REPLACE "^[^\"]*\"([a-z-]+)\".*" "\\1" verb "${row}")
	heddle_page(heddle-${verb} ${verb})
endforeach()
set(completions)
foreach(shell bash zsh fish)
	set(output ${generated}/heddle.${shell})
	add_custom_command(OUTPUT ${output} COMMAND heddle completion ${shell} > ${output} DEPENDS heddle VERBATIM
		COMMENT "Completion for ${shell}")
	list(APPEND completions ${output})
endforeach()
add_custom_target(heddle_reference ALL DEPENDS ${pages} ${completions})
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
install(FILES ${generated}/heddle.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME heddle COMPONENT runtime)
install(FILES ${generated}/heddle.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _heddle COMPONENT runtime)
install(FILES ${generated}/heddle.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT runtime)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/layers ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle COMPONENT runtime
	PATTERN "__pycache__" EXCLUDE PATTERN ".*" EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/doc/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime FILES_MATCHING PATTERN "*.md")
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
if(NOT HEDDLE_STATIC)
	install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
endif()

# ---- the library -------------------------------------------------------------------------------------------------------------
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/heddle TYPE INCLUDE COMPONENT development)
if(HEDDLE_STATIC)
	# One object with everything in it, of which only the public interface is visible: whoever links it needs nothing else,
	# and may use isl or jansson as well.
	set(archives)
	foreach(dependency isl_library cyaml_library yaml_library jansson_library)
		get_target_property(found ${dependency} INTERFACE_LINK_LIBRARIES)
		foreach(library ${found})
			if(library MATCHES "\\.a$")
				list(APPEND archives ${library})
			endif()
		endforeach()
	endforeach()
	file(STRINGS ${CMAKE_SOURCE_DIR}/cmake/libheddle.map symbols REGEX "^\t\theddle_")
	string(REGEX REPLACE "[\t\\; ]+" "\n" symbols "${symbols}")
	file(WRITE ${generated}/symbols "${symbols}\n")
	set(library ${generated}/libheddle.a)
	add_custom_command(OUTPUT ${library}
		COMMAND ${CMAKE_LINKER} -r -o ${generated}/heddle.o --whole-archive $<TARGET_FILE:heddle_static> --no-whole-archive ${archives}
		COMMAND ${CMAKE_OBJCOPY} --strip-debug --keep-global-symbols=${generated}/symbols ${generated}/heddle.o
		COMMAND ${CMAKE_COMMAND} -E rm -f ${library}
		COMMAND ${CMAKE_AR} rcsD ${library} ${generated}/heddle.o
		DEPENDS heddle_static ${CMAKE_SOURCE_DIR}/cmake/libheddle.map VERBATIM COMMENT "Library with all that it needs")
	add_custom_target(heddle_whole ALL DEPENDS ${library})
	install(FILES ${library} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
	set(HEDDLE_PC_LIBS "-ldl -lm -lpthread")
	set(HEDDLE_PC_PRIVATE "")
else()
	install(TARGETS heddle_static ARCHIVE COMPONENT development)
	install(TARGETS heddle_shared LIBRARY COMPONENT development)
	set(HEDDLE_PC_LIBS "")
	set(HEDDLE_PC_PRIVATE "-lisl -lcyaml -lyaml -ljansson -ldl -lm -lpthread")
endif()
file(RELATIVE_PATH HEDDLE_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" HEDDLE_PC_PREFIX "${HEDDLE_PC_PREFIX}")
configure_file(${CMAKE_SOURCE_DIR}/cmake/heddle.pc.in ${generated}/heddle.pc @ONLY)
install(FILES ${generated}/heddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# ---- find_package(Heddle) ----------------------------------------------------------------------------------------------------
set(HEDDLE_PROGRAM ${CMAKE_INSTALL_FULL_BINDIR}/heddle)
set(HEDDLE_INCLUDE ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(HEDDLE_LIBRARY_FOLDER ${CMAKE_INSTALL_FULL_LIBDIR})
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/HeddleConfig.cmake.in ${generated}/HeddleConfig.cmake
	INSTALL_DESTINATION ${HEDDLE_CMAKE_DIR} PATH_VARS HEDDLE_PROGRAM HEDDLE_INCLUDE HEDDLE_LIBRARY_FOLDER)
write_basic_package_version_file(${generated}/HeddleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${generated}/HeddleConfig.cmake ${generated}/HeddleConfigVersion.cmake ${CMAKE_SOURCE_DIR}/cmake/HeddleKernels.cmake
	DESTINATION ${HEDDLE_CMAKE_DIR} COMPONENT runtime)
# The build folder can be used without installing: -DHeddle_DIR=.../build/dev
set(HEDDLE_PROGRAM ${CMAKE_BINARY_DIR}/heddle)
set(HEDDLE_INCLUDE ${CMAKE_SOURCE_DIR}/include)
set(HEDDLE_LIBRARY_FOLDER ${CMAKE_BINARY_DIR})
if(HEDDLE_STATIC)
	set(HEDDLE_LIBRARY_FOLDER ${generated})
endif()
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/HeddleConfig.cmake.in ${CMAKE_BINARY_DIR}/HeddleConfig.cmake
	INSTALL_PREFIX ${CMAKE_BINARY_DIR} INSTALL_DESTINATION ${CMAKE_BINARY_DIR}
	PATH_VARS HEDDLE_PROGRAM HEDDLE_INCLUDE HEDDLE_LIBRARY_FOLDER)
configure_file(${generated}/HeddleConfigVersion.cmake ${CMAKE_BINARY_DIR}/HeddleConfigVersion.cmake COPYONLY)
configure_file(${CMAKE_SOURCE_DIR}/cmake/HeddleKernels.cmake ${CMAKE_BINARY_DIR}/HeddleKernels.cmake COPYONLY)

# ---- packages: cpack in build/portable ------------------------------------------------------------------------------------------
if(HEDDLE_STATIC)
	# The licences of what is linked in, as Debian has them; that of isl covers imath as well.
	set(linked isl cyaml yaml jansson)
	set(common)
	if(NOT HEDDLE_ISL)
		list(APPEND linked gmp)
		set(common GPL-2 GPL-3 LGPL-3)
	endif()
	foreach(package ${linked})
		foreach(file /usr/share/doc/lib${package}-dev/copyright)
			if(EXISTS ${file})
				install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME ${package} COMPONENT runtime)
			endif()
		endforeach()
	endforeach()
	foreach(licence ${common})
		if(EXISTS /usr/share/common-licenses/${licence})
			install(FILES /usr/share/common-licenses/${licence} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences COMPONENT tarball)
		endif()
	endforeach()
	include(cmake/package.cmake)
endif()
