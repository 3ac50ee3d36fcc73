#!/bin/sh
# Compiles HIP or CUDA text, with the vendor's library of device functions, to a shared object for this machine:
#     host.sh hip|cuda SOURCE LIBRARY [exact]
# The text becomes LLVM IR as the vendor's compiler makes it, the IR is given this machine's target, and the instructions that
# the vendor's IR names (llvm.amdgcn.*, llvm.nvvm.*) become calls of the functions in amd.c or nvidia.c, which are off by as much
# as the vendor's documents allow; with `exact`, by nothing.  Exit code 77: a tool is missing.
# SPDX-License-Identifier: MIT
set -eu
backend=$1 source=$2 library=$3
define=-UHEDDLE_EXACT
[ "${4:-}" != exact ] || define=-DHEDDLE_EXACT
here=$(dirname "$0")
work=$(dirname "$3")

missing() {
	echo "skipped: $1 not found: $2" >&2
	exit 77
}
for tool in clang-19 llvm-link-19 llvm-dis-19; do
	command -v $tool >/dev/null || missing $tool 'apt install clang-19 llvm-19'
done

# Textual IR for amdgcn or nvptx -> for this machine: one address space, C's calling convention, plain names for intrinsics.
retarget() {
	sed -E -e '/^target (datalayout|triple)/d' -e 's/ addrspace\([0-9]+\)//g' -e 's/\baddrspacecast\b/bitcast/g' \
		-e 's/\b(amdgpu_kernel|ptx_kernel|ptx_device) //g' -e 's/^attributes (#[0-9]+) = .*/attributes \1 = { nounwind }/' \
		-e 's/ protected / /; s/ local_unnamed_addr//' \
		-e ':a' -e 's/@llvm\.(amdgcn|nvvm)\.([a-z0-9_]+)\./@llvm.\1.\2_/; ta' \
		-e 's/@llvm\.amdgcn\./@heddle_amdgcn_/g' -e 's/@llvm\.nvvm\./@heddle_nvvm_/g' "$@"
}

if [ "$backend" = hip ]; then
	command -v hipcc >/dev/null || missing hipcc 'apt install hipcc libamdhip64-dev rocm-device-libs'
	[ -f /usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc ] || missing ocml.bc 'apt install rocm-device-libs'
	# With the vendor's headers and libraries, optimised as for its users.
	hipcc -std=c++17 -O3 -fno-fast-math -fno-gpu-flush-denormals-to-zero --offload-arch=gfx90a \
		--offload-device-only -emit-llvm -S "$source" -o "$work/device.ll" 2>"$work/hipcc.txt" || {
		cat "$work/hipcc.txt" >&2
		exit 70
	}
	# The square root and the powers and logarithms of 2 are instructions, too.
	retarget "$work/device.ll" | sed -E -e 's/@llvm\.(sqrt|exp2|log2)\.f32/@heddle_amdgcn_\1/g' >"$work/host.ll"
	model=amd.c
else
	toolkit=${CUDA_HOME:-/usr/local/cuda}
	[ -f "$toolkit/nvvm/libdevice/libdevice.10.bc" ] || missing libdevice.10.bc 'install the CUDA toolkit, or set CUDA_HOME'
	# clang in the place of the vendor's front end (the IR of NVRTC cannot be had); calls.sh checks that both call one function.
	clang-19 -x cuda --cuda-gpu-arch=sm_90 --cuda-device-only -nocudainc -nocudalib -Wno-unknown-cuda-version -std=c++17 -O1 \
		-ffp-contract=fast -D__CUDACC_RTC__=1 -include "$here/cuda_shim.h" -S -emit-llvm "$source" -o "$work/device.ll"
	llvm-dis-19 "$toolkit/nvvm/libdevice/libdevice.10.bc" -o "$work/libdevice.ll"
	retarget "$work/device.ll" >"$work/kernel.ll"
	# IEEE division and square roots, subnormal numbers kept: what __nvvm_reflect answers is in nvidia.c.
	# So are its lines of PTX, by functions of nvidia.c and nvidia.ll.
	{
		retarget "$work/libdevice.ll" | sed -E \
			-e 's/= shl i(32|64) (%[0-9]+), (%[0-9]+)$/= call i\1 @heddle_asm_shl\1(i\1 \2, i\1 \3)/; t' \
			-e '/ asm "/!b' -e 's/asm "rcp\.approx\.ftz\.f32 [^"]*", "[^"]*"/@heddle_nvvm_rcp_approx_ftz_f/; t' \
			-e 's/asm "sub\.(r[nzmp])(\.ftz)?\.f32 [^"]*", "[^"]*"/@heddle_nvvm_sub_\1_f/; t' \
			-e 's/asm "sub\.(r[nzmp])\.f64 [^"]*", "[^"]*"/@heddle_nvvm_sub_\1_d/; t' \
			-e 's/asm "rsqrt\.approx\.ftz\.f64 [^"]*", "[^"]*"/@heddle_nvvm_rsqrt_gross_d/; t' \
			-e 's/asm "bfind\.shiftamt\.u32 [^"]*", "[^"]*"/@heddle_nvvm_bfind_shiftamt/; t' \
			-e 's/asm "[^"]*clo, chi;[^"]*", "[^"]*"/@heddle_asm_mad64/; t' \
			-e 's/asm "[^"]*add\.cc\.u32  *r0,[^"]*", "[^"]*"/@heddle_asm_add128/; t' \
			-e 's/asm "[^"]*sub\.cc\.u32  *r0,[^"]*", "[^"]*"/@heddle_asm_sub128/; t' \
			-e 's/asm "[^"]*mul\.lo\.u32  *r0,[^"]*", "[^"]*"/@heddle_asm_mul64/; t' \
			-e 's/asm "[^"]*mad\.lo\.cc\.u32  *\$0,[^"]*", "[^"]*"/@heddle_asm_mad32/; t' \
			-e 's/asm "[^"]*setp\.equ\.f64[^"]*", "[^"]*"/@heddle_asm_select_equ/'
		echo 'declare float @heddle_nvvm_rcp_approx_ftz_f(float)'
		for mode in rn rz rm rp; do
			echo "declare float @heddle_nvvm_sub_${mode}_f(float, float)"
			echo "declare double @heddle_nvvm_sub_${mode}_d(double, double)"
		done
		echo 'declare double @heddle_nvvm_rsqrt_gross_d(double)'
		echo 'declare i32 @heddle_nvvm_bfind_shiftamt(i32)'
		cat "$here/nvidia.ll"
	} >"$work/libdevice.host.ll"
	llvm-link-19 -S --only-needed "$work/kernel.ll" "$work/libdevice.host.ll" -o "$work/host.ll"
	model=nvidia.c
fi
# One shared object: the kernels, the model of the instructions, and a way in.
parameters=$(sed -nE 's/^define .*void @functions_0\((.*)\).*/\1/p' "$work/host.ll" | tr ',' '\n' | grep -c ptr)
[ "$parameters" -eq 5 ] || { echo "host.sh: functions_0 has $parameters parameters" >&2; exit 70; }
clang-19 -O2 -mfma -mavx2 -ffp-contract=on -c -Wno-override-module -x ir "$work/host.ll" -fPIC -o "$work/kernel.o"
clang-19 -O2 -mfma -mavx2 -ffp-contract=off -frounding-math -std=c11 -Wall -Wextra -fPIC "$define" -c "$here/$model" -o "$work/model.o"
clang-19 -shared -Wl,-z,defs -o "$library" "$work/kernel.o" "$work/model.o" -lm
