# For scripts that measure on this CPU: $target, the descriptor of a processor with vectors as long as this one's.
# SPDX-License-Identifier: MIT
target=opencl:cpu
if [ -r /proc/cpuinfo ] && ! grep -q avx512f /proc/cpuinfo && grep -q avx2 /proc/cpuinfo; then
	target=opencl:cpu-avx2
fi
