# Read by cpack for each kind of package.
# SPDX-License-Identifier: MIT
if(CPACK_GENERATOR STREQUAL "DEB")
	set(CPACK_COMPONENTS_ALL runtime development)
	set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
