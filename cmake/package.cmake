# Packages of the preset "portable": a relocatable heddle-VERSION-Linux-ARCH.tar.gz, and Debian's heddle and libheddle-dev.
# SPDX-License-Identifier: MIT
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_VENDOR Heddle)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler from tensor notation to CUDA, HIP and OpenCL C kernels")
set(CPACK_PACKAGE_FILE_NAME heddle-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# By Debian's rules each package has its copyright and changelog under its own name.
set(papers ${CMAKE_BINARY_DIR}/papers)
file(READ ${CMAKE_SOURCE_DIR}/LICENSE licence)
file(READ ${CMAKE_SOURCE_DIR}/NOTICE notice)
file(WRITE ${papers}/copyright "${licence}\n${notice}\nOn Debian systems the texts of the GNU licences are in\n"
	"/usr/share/common-licenses/LGPL-3 and /usr/share/common-licenses/GPL-2.\n")
file(WRITE ${papers}/changelog "heddle (${PROJECT_VERSION}) unstable; urgency=medium\n\n  * Heddle ${PROJECT_VERSION}.\n\n"
	" -- The Heddle authors <heddle@localhost>  Fri, 20 Nov 2026 12:00:00 +0000\n")
install(FILES ${papers}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/heddle COMPONENT runtime)
install(FILES ${papers}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libheddle-dev COMPONENT development)
# What lintian finds and is meant so: only the C library is shared, and there is no address to write to yet.
file(WRITE ${papers}/heddle "heddle: embedded-library\nheddle: bogus-mail-host\nheddle: bogus-mail-host-in-debian-changelog\n")
file(WRITE ${papers}/libheddle-dev "libheddle-dev: bogus-mail-host\nlibheddle-dev: bogus-mail-host-in-debian-changelog\n"
	"libheddle-dev: pkg-config-unavailable-for-cross-compilation\n")
install(FILES ${papers}/heddle DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT runtime)
install(FILES ${papers}/libheddle-dev DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT development)
if(GZIP)
	execute_process(COMMAND ${GZIP} -9nf ${papers}/changelog)
	install(FILES ${papers}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/heddle COMPONENT runtime)
	install(FILES ${papers}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libheddle-dev COMPONENT development)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Heddle authors <heddle@localhost>")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME heddle)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "pocl-opencl-icd, oclgrind, g++, clang")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libheddle-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libc6-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Heddle takes layers written once, in tensor notation, and gives back
kernels for every vendor that a person can read, take away and build
without it.  It tests kernels, its own and those written by hand, without
a GPU.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The library of the compiler Heddle, to be linked
statically, and its header.")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/package_kind.cmake)
include(CPack)
