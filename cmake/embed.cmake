# Data files compiled into the binary: descriptors, dialects, preludes, shims and schemas become one C file,
# ${HEDDLE_EMBEDDED_C}, that defines heddle_embedded_files.  Included by CMakeLists.txt; run again as a script (with -P) by
# the build whenever one of the files changes.
# SPDX-License-Identifier: MIT

# One file as C string literals, a line each.  `?` is escaped because of trigraphs.
function(heddle_embed_text path out)
	file(READ "${path}" text)
	string(LENGTH "${text}" length)
	string(REPLACE "\\" "\\\\" text "${text}")
	string(REPLACE "\"" "\\\"" text "${text}")
	string(REPLACE "?" "\\?" text "${text}")
	string(REPLACE "\r" "\\r" text "${text}")
	string(REPLACE "\n" "\\n\"\n\t\"" text "${text}")
	set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
	file(STRINGS "${LIST}" files)
	set(content "/* Made by cmake/embed.cmake from the data files of the source tree.\n * SPDX-License-Identifier: MIT\n */\n")
	string(APPEND content "#include \"base/base.h\"\n\n")
	set(table)
	set(number 0)
	foreach(file ${files})
		heddle_embed_text("${ROOT}/${file}" text)
		string(APPEND content "static const char file_${number}[] =\n\t${text};\n\n")
		string(APPEND table "\t{\"${file}\", file_${number}, sizeof(file_${number}) - 1},\n")
		math(EXPR number "${number} + 1")
	endforeach()
	string(APPEND content "const heddle_embedded heddle_embedded_files[] = {\n${table}\t{0},\n};\n")
	file(WRITE "${OUTPUT}.new" "${content}")
	file(RENAME "${OUTPUT}.new" "${OUTPUT}")
	return()
endif()

set(patterns arch/*.yaml backends/*.yaml backends/*/* schema/*.json)
set(files)
foreach(pattern ${patterns})
	file(GLOB more CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/${pattern})
	list(APPEND files ${more})
endforeach()
list(REMOVE_DUPLICATES files)
list(FILTER files EXCLUDE REGEX "\\.(c|md|tmp)$")
list(SORT files)
set(list_file ${CMAKE_BINARY_DIR}/embedded.list)
string(REPLACE ";" "\n" list_text "${files}")
file(CONFIGURE OUTPUT ${list_file} CONTENT "${list_text}\n" @ONLY)
list(TRANSFORM files PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE inputs)

set(HEDDLE_EMBEDDED_C ${CMAKE_BINARY_DIR}/embedded.c)
add_custom_command(OUTPUT ${HEDDLE_EMBEDDED_C}
	COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DLIST=${list_file} -DOUTPUT=${HEDDLE_EMBEDDED_C}
		-P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
	DEPENDS ${inputs} ${list_file} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
	COMMENT "Embedding data files" VERBATIM)
