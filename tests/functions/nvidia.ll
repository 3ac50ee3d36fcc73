; What libdevice writes as PTX with two results, as functions: C would return them in other registers.
; SPDX-License-Identifier: MIT

; a * b + c in 64 bits
define { i32, i32 } @heddle_asm_mad32(i32 %a, i32 %b, i32 %c) {
	%a64 = zext i32 %a to i64
	%b64 = zext i32 %b to i64
	%c64 = zext i32 %c to i64
	%product = mul i64 %a64, %b64
	%sum = add i64 %product, %c64
	%low = trunc i64 %sum to i32
	%shifted = lshr i64 %sum, 32
	%high = trunc i64 %shifted to i32
	%one = insertvalue { i32, i32 } undef, i32 %low, 0
	%both = insertvalue { i32, i32 } %one, i32 %high, 1
	ret { i32, i32 } %both
}

define internal { i64, i64 } @halves(i128 %x) {
	%low = trunc i128 %x to i64
	%shifted = lshr i128 %x, 64
	%high = trunc i128 %shifted to i64
	%one = insertvalue { i64, i64 } undef, i64 %low, 0
	%both = insertvalue { i64, i64 } %one, i64 %high, 1
	ret { i64, i64 } %both
}

define internal i128 @whole(i64 %low, i64 %high) {
	%l = zext i64 %low to i128
	%h = zext i64 %high to i128
	%shifted = shl i128 %h, 64
	%x = or i128 %shifted, %l
	ret i128 %x
}

define { i64, i64 } @heddle_asm_add128(i64 %a0, i64 %a1, i64 %b0, i64 %b1) {
	%a = call i128 @whole(i64 %a0, i64 %a1)
	%b = call i128 @whole(i64 %b0, i64 %b1)
	%x = add i128 %a, %b
	%r = call { i64, i64 } @halves(i128 %x)
	ret { i64, i64 } %r
}

define { i64, i64 } @heddle_asm_sub128(i64 %a0, i64 %a1, i64 %b0, i64 %b1) {
	%a = call i128 @whole(i64 %a0, i64 %a1)
	%b = call i128 @whole(i64 %b0, i64 %b1)
	%x = sub i128 %a, %b
	%r = call { i64, i64 } @halves(i128 %x)
	ret { i64, i64 } %r
}

define { i64, i64 } @heddle_asm_mad64(i64 %a0, i64 %b0, i64 %c0) {
	%a = zext i64 %a0 to i128
	%b = zext i64 %b0 to i128
	%c = zext i64 %c0 to i128
	%product = mul i128 %a, %b
	%x = add i128 %product, %c
	%r = call { i64, i64 } @halves(i128 %x)
	ret { i64, i64 } %r
}

define { i64, i64 } @heddle_asm_mul64(i64 %a, i64 %b) {
	%r = call { i64, i64 } @heddle_asm_mad64(i64 %a, i64 %b, i64 0)
	ret { i64, i64 } %r
}

; equal or unordered
define double @heddle_asm_select_equ(double %a, double %b, double %x, double %y) {
	%c = fcmp ueq double %a, %b
	%r = select i1 %c, double %x, double %y
	ret double %r
}

; PTX shifts by all bits and more give 0
define i32 @heddle_asm_shl32(i32 %x, i32 %n) {
	%c = icmp ugt i32 %n, 31
	%m = select i1 %c, i32 0, i32 %n
	%y = shl i32 %x, %m
	%r = select i1 %c, i32 0, i32 %y
	ret i32 %r
}

; PTX shifts by all bits and more give 0
define i64 @heddle_asm_shl64(i64 %x, i64 %n) {
	%c = icmp ugt i64 %n, 63
	%m = select i1 %c, i64 0, i64 %n
	%y = shl i64 %x, %m
	%r = select i1 %c, i64 0, i64 %y
	ret i64 %r
}
