/* The codes of all diagnostics with their explanations, sorted: what `heddle explain` prints.
 *
 * To add one: a row at its place in the order.  The explanation says what is wrong and why, shows an example that is wrong
 * and the right one; lines end in \n.
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"

const heddle_code heddle_codes[] = {
	{1, "a character that begins no token",
	 "Statements need no `;`, and comments begin with `#`.\n"
	 "Wrong:  O(i) = A(i) @ 2\n"
	 "Right:  O(i) = A(i) * 2\n"},
	{2, "a malformed number",
	 "Numbers have no suffixes: a literal has the precision of the type that it is used with, and a cast gives it one.\n"
	 "Names cannot begin with a digit, and a product needs its `*`.\n"
	 "Wrong:  O(i) = A(i) * 1.5f + 2x\n"
	 "Right:  O(i) = A(i) * 1.5 + 2 * x\n"},
	{3, "something else was expected here",
	 "The message says what the grammar wants and what stands there.\n"
	 "Wrong:  def f(float(N) A -> (O) {\n"
	 "Right:  def f(float(N) A) -> (O) {\n"},
	{4, "the return list needs parentheses",
	 "Wrong:  def f(float(N) A) -> O {\n"
	 "Right:  def f(float(N) A) -> (O) {\n"},
	{5, "an expression is missing or does not end",
	 "An operator lacks its operand, or a statement ends in the middle of an expression.  There is no unary +.\n"
	 "Wrong:  O(i) = A(i) *\n"
	 "Right:  O(i) = A(i) * 2\n"},
	{6, "an assignment operator was expected",
	 "They are  =  +=  *=  min=  max=  and, to initialise first,  +=!  *=!  min=!  max=!\n"
	 "Wrong:  O(i) -= A(i)\n"
	 "Right:  O(i) += -A(i)\n"},
	{7, "only definitions may stand here",
	 "A file is a list of `def name(inputs) -> (outputs) { statements }`; a `}` too many ends one too early.\n"
	 "Wrong:  kernel f(float(N) A) -> (O) { .. }\n"
	 "Right:  def f(float(N) A) -> (O) { .. }\n"},
	{8, "min and max take two arguments",
	 "Wrong:  O(i) = max(A(i), B(i), 0.0)\n"
	 "Right:  O(i) = max(A(i), max(B(i), 0.0))\n"},
	{9, "the file has no definition",
	 "There is nothing to compile in it.\n"
	 "Right:  def f(float(N) A) -> (O) { O(i) = A(i) }\n"},
	{10, "an expression is nested too deeply or too long",
	 "Depth is limited to 200 and a chain of operators to 2000.  Write a part of it to a temporary tensor first.\n"},
	{11, "a definition is not closed",
	 "The `}` is missing: another `def` or the end of the file came first.\n"},
	{12, "a source is too large",
	 "Compiling takes time and memory that grow faster than the text, so there are limits: the message says which one was reached.\n"
	 "Split the file, or the definition; doc/language.md lists the limits.  Ranges that take too long to check have fewer\n"
	 "alternatives when a temporary holds a part, or when `where` gives an index its range.\n"},
	{101, "an unknown name",
	 "The name is no input, output, size, index with a range, `where` definition or function.  A bare name that nothing else\n"
	 "explains would be an index; one that occurs in no subscript of a tensor is most likely misspelt.\n"
	 "Wrong:  def f(float(N) input) -> (O) { O(i) = inptu(i) }\n"
	 "Right:  def f(float(N) input) -> (O) { O(i) = input(i) }\n"},
	{102, "a tensor is read before it is written",
	 "Statements run in the order in which they stand.\n"
	 "Wrong:  O(i) = t(i)\n"
	 "        t(i) = A(i)\n"
	 "Right:  t(i) = A(i)\n"
	 "        O(i) = t(i)\n"},
	{103, "an element is read while it has no value yet",
	 "The first statement that writes a tensor may read other elements of it (a recurrence), not the one that it writes.\n"
	 "Wrong:  O(i) = O(i) + A(i)\n"
	 "Right:  O(i) = A(i)\n"
	 "Right:  -> (inout float(N) O)      when the caller puts a value there\n"},
	{104, "a name is defined twice",
	 "Inputs, outputs, sizes and `where` definitions share their names.\n"
	 "Wrong:  def f(float(N) A, float(M) A) -> (O) { .. }\n"},
	{105, "two definitions have one name",
	 "Each `def` of a file needs a name of its own.\n"},
	{106, "an input is written",
	 "Inputs do not change.  To update in place return the tensor as `inout`, or write a new one.\n"
	 "Wrong:  def f(float(N) A) -> (O) { A(i) = 0.0 .. }\n"
	 "Right:  def f(float(M) B) -> (inout float(N) A) { A(i) = 0.0 }\n"},
	{107, "an index has the name of something else",
	 "A name that is a size, a tensor or a `where` definition means that in every place, so it cannot be an index too.\n"
	 "Wrong:  def f(float(N) A) -> (O) { O(N) = A(N) }\n"
	 "Right:  def f(float(N) A) -> (O) { O(n) = A(n) }\n"},
	{108, "an index is neither on the left nor reduced",
	 "With `=`, each element would be written once for each value of the index.\n"
	 "Wrong:  O(i) = A(i, k)\n"
	 "Right:  O(i) +=! A(i, k)\n"},
	{109, "an output is never written",
	 "Each name in the return list must be the target of a statement, and there must be one.\n"},
	{110, "an output accumulates into what the caller put there",
	 "`+=`, `*=`, `min=` and `max=` keep what is there; with `!` they initialise first.  The warning goes away when the return\n"
	 "list says `inout`.\n"
	 "Wrong:  O(i) += A(i, k)\n"
	 "Right:  O(i) +=! A(i, k)\n"},
	{111, "a temporary accumulates without a first value",
	 "A tensor that is not returned has no contents to begin with.\n"
	 "Wrong:  t(i) += A(i, k)\n"
	 "Right:  t(i) +=! A(i, k)\n"},
	{112, "a function gets the wrong number of arguments",
	 "Wrong:  pow(x)\n"
	 "Right:  pow(x, 2.0)\n"},
	{113, "the wrong number of subscripts",
	 "A tensor has one subscript per dimension, in every statement; one without dimensions is written without parentheses.\n"
	 "Wrong:  def f(float(N) A) -> (O) { O(i) = A(i, i) }\n"
	 "Right:  def f(float(N) A) -> (O) { O(i) = A(i) }\n"},
	{114, "a subscript or bound is not an integer",
	 "Wrong:  A(B(i))             (B is float)\n"
	 "Right:  A(int32(B(i)))\n"},
	{115, "a condition is not a truth value",
	 "Wrong:  A(i) ? 1 : 0\n"
	 "Right:  A(i) != 0 ? 1 : 0\n"},
	{116, "a value loses precision without a cast",
	 "A tensor has the type it was declared with, or that of the first statement that writes it.  Only float32 into float16 and\n"
	 "bfloat16 is rounded silently.\n"
	 "Wrong:  def f(double(N) A) -> (float(N) O) { O(i) = A(i) }\n"
	 "Right:  def f(double(N) A) -> (float(N) O) { O(i) = float(A(i)) }\n"},
	{117, "the name of a built-in function",
	 "doc/language.md lists the functions; their names cannot be used for anything else.\n"},
	{118, "a tensor is read where only sizes and indices may stand",
	 "Bounds and left-hand sides decide what is computed, so they cannot depend on data.  An integer that the caller passes as a\n"
	 "size can: `size S`.\n"
	 "Wrong:  def f(float(N) A, int32 n) -> (O) { O +=! A(i) where i in 0:n }\n"
	 "Right:  def f(float(N) A, size S) -> (O) { O +=! A(i) where i in 0:S }\n"},
	{119, "an output is declared with another rank",
	 "Wrong:  def f(float(N) A) -> (float(N, N) O) { O(i) = A(i) }\n"
	 "Right:  def f(float(N) A) -> (float(N) O) { O(i) = A(i) }\n"},
	{120, "a bit operator on a float",
	 "& | ^ << >> take integers.\n"
	 "Wrong:  A(i) & 1            (A is float)\n"
	 "Right:  int32(A(i)) & 1\n"},
	{121, "a parameter without type or shape, or an unknown type",
	 "Inputs need types, and so do `inout` outputs, since no statement may define them.  The types are bool, int8, int16, int32,\n"
	 "int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32 (or float) and float64 (or double).\n"
	 "Wrong:  def f(flaot(N) A) -> (O) { .. }\n"
	 "Wrong:  def f(A) -> (O) { .. }\n"
	 "Right:  def f(float(N) A) -> (O) { .. }\n"},
	{122, "a tensor is given two types",
	 "The type before a statement's target declares it: once is enough.\n"
	 "Wrong:  float t(i) = A(i)\n"
	 "        double t(i) = A(i)\n"},
	{123, "a `where` definition is defined by itself",
	 "Wrong:  O(i) = A(i) * x where x = x + 1\n"
	 "Right:  O(i) = A(i) * x where x = i + 1\n"},
	{124, "not a tensor or a function",
	 "Sizes, indices and `where` definitions take no subscripts.\n"
	 "Wrong:  A(i) * N(i)         (N is a size)\n"
	 "Right:  A(i) * N\n"},
	{125, "division by zero",
	 "An integer is divided by a constant that is 0.\n"},
	{126, "a `where` definition is not used",
	 "Nothing in the statement mentions it; it may be misspelt there.\n"},
	{127, "an extent cannot be this",
	 "Extents are made of constants, sizes and  + - * / % min max.\n"
	 "Wrong:  float(N > 1) A\n"
	 "Right:  float(N + 1) A\n"},
	{128, "strides that do not fit the tensor",
	 "There is one stride per dimension, in elements: element (i, j) of `float(M, N) A strides (s, t)` is s*i + t*j elements\n"
	 "behind the first.  Strides are made of constants and sizes and are not negative; those of a tensor that is written give\n"
	 "each element a place of its own.\n"
	 "Wrong:  float(M, N) A strides (lda)\n"
	 "Right:  float(M, N) A strides (lda, 1)\n"},
	{129, "an alignment that is not possible",
	 "`align N` says that the tensor's address is a multiple of N bytes: a power of two, not less than an element.\n"
	 "Wrong:  float(M, N) A align 24\n"
	 "Right:  float(M, N) A align 32\n"},
	{130, "what argmax and argmin cannot find",
	 "`T(..) argmax=! e` gives the index that is not on the left-hand side, where e is greatest: there must be one.  Several, each\n"
	 "from 0 to a fixed extent, count as one, row-major.  The result is int32, or int64 when declared so.\n"
	 "Wrong:  at(i) argmax=! A(i)\n"
	 "Right:  at argmax=! A(i)\n"},
	{131, "a call that does not fit the definition",
	 "`(Y, Z) = f(A, B, x, N)` takes the results of a definition of the same file, in the order of its return list.  Tensors are\n"
	 "passed by name, with the type and number of dimensions that the definition declares; inputs without dimensions and\n"
	 "`size` parameters by expression.  No tensor is both passed and written, unless it is `inout`.\n"
	 "Wrong:  Y(i) = relu(X) + 1\n"
	 "Right:  t = relu(X)\n"
	 "        Y(i) = t(i) + 1\n"},
	{132, "definitions that call each other in a circle",
	 "A call stands for the statements of the definition, so none can lead back to itself.\n"},
	{133, "sizes that contradict each other in a call",
	 "The extents of the tensors that are passed give the definition's sizes their values: where one occurs twice, they must be\n"
	 "equal, and what the definition requires must be possible.\n"
	 "For   def f(float(N) A, float(N) B) -> (C) ..\n"
	 "Wrong:  X = f(T, U)         (T has 4 elements, U has 5)\n"},
	{134, "no such numeric policy",
	 "A definition is calculated by one policy on every target: `ieee`, the default, or `relaxed`, which lets subnormal numbers be 0,\n"
	 "divisions and square roots be off by 2 ulp and functions by twice their bound.  `tf32` is not there yet.\n"
	 "Wrong:  def f(float(N) A) -> (O) policy fast { .. }\n"
	 "Right:  def f(float(N) A) -> (O) policy relaxed { .. }\n"},
	{201, "the range of an index cannot be inferred",
	 "An index gets its range from the subscripts that it is in: 0 <= subscript < extent, where it is the only index without a\n"
	 "range.  Otherwise `where` gives it one.\n"
	 "Wrong:  O(i, j) = A(i)\n"
	 "Right:  O(i, j) = A(i) where j in 0:4\n"},
	{202, "a tensor is written below 0",
	 "Tensors begin at 0.  The range that keeps all reads inside begins below it: begin at 0 by `where`, or shift the left side.\n"
	 "Wrong:  O(i) = A(i + 5)                     (i from -5)\n"
	 "Right:  O(i) = A(i + 5) where i in 0:N - 5\n"
	 "Right:  O(i + 5) = A(i + 5)\n"},
	{203, "a negative range or extent",
	 "lower:upper has the values lower .. upper - 1; upper must not be less than lower.  An extent of 0 is fine.\n"
	 "Wrong:  where i in 8:4\n"
	 "Right:  where i in 4:8\n"},
	{204, "not all of a tensor is written",
	 "Tensors begin at 0 and end where the highest write does; what no statement writes is 0, and so is what is read before a\n"
	 "later statement writes it.\n"
	 "For   O(i) = A(i - 1)   O has N + 1 elements and O(0) is 0.\n"},
	{205, "a tensor is read outside",
	 "The message shows the range of the subscript and the elements that there are.  Narrow an index with `where`, or read under\n"
	 "a condition: each side of ?: is checked under its condition.\n"
	 "Wrong:  O(i) = A(i + 1) where i in 0:N\n"
	 "Right:  O(i) = A(i + 1) where i in 0:N - 1\n"
	 "Right:  O(i) = i + 1 < N ? A(i + 1) : 0.0 where i in 0:N\n"},
	{206, "ranges that depend on each other",
	 "The bounds of an index may use other indices, but not in a circle.\n"
	 "Wrong:  where i in 0:j+1, j in i:N\n"
	 "Right:  where j in i:N\n"},
	{207, "a bound that is not affine",
	 "Bounds are sums of indices, sizes and constants, with constant factors, and min, max, / and % by constants.\n"
	 "Constants, factors of indices and what comes of them are at most 2^61.\n"
	 "Wrong:  where j in 0:i*i\n"
	 "Right:  where j in 0:2*i + 1\n"},
	{208, "a left-hand subscript that is not affine",
	 "Wrong:  O(i * j) +=! A(i) * A(j)\n"
	 "Right:  O(4 * i + j) +=! A(i) * A(j) where j in 0:4\n"},
	{209, "a stride that is not known",
	 "An index times (or divided by) a size is affine only when the size has one value. P * g + c with c in 0:P needs none, where all of\n"
	 "a tensor is written so.\n"
	 "For   def f(float(N) A, size S) -> (O) { O(i) = A(S * i) }\n"
	 "Right:  -s S=2\n"
	 "Right:  def f(float(N) A, size S) -> (O) sizes S=2 { O(i) = A(S * i) }\n"},
	{210, "a tensor is written outside of its declared shape",
	 "Wrong:  def f(float(N) A) -> (float(N) O) { O(i + 1) = A(i) }\n"
	 "Right:  def f(float(N) A) -> (float(N + 1) O) { O(i + 1) = A(i) }\n"},
	{212, "an index of `where` is not used",
	 "It still counts: a reduction runs once for each of its values.\n"
	 "For   O(i) +=! A(i) where r in 0:4    O is 4 times A.\n"},
	{213, "preconditions that contradict each other",
	 "What the reads of a definition need of its sizes cannot hold for any of them, so there is nothing to compile.\n"
	 "Wrong:  def f(float(N) A, float(M) B) -> (O) { O(i) = A(i + M) + B(i + N) where i in 0:4 }\n"
	 "Right:  def f(float(N) A, float(M) B) -> (O) { O(i) = A(i) + B(i) where i in 0:4 }\n"},
	{214, "an index that never has a value",
	 "What the reads of a statement need of an index holds for none, whatever the sizes are, so the statement does nothing.\n"
	 "Wrong:  def f(float(N) A) -> (O) { O(i) = A(i) + A(i + N) }\n"
	 "Right:  def f(float(2 * N) A) -> (O) { O(i) = A(i) + A(i + N) where i in 0:N }\n"},
	{215, "a sum that goes through more terms than it has",
	 "A left side such as y(2 * u + k) says where terms go.  Elements are computed side by side, each as the sum over what meets\n"
	 "there, so it has to be known which terms do: of two indices with constant factors that are in no other subscript, it is.\n"
	 "Of three, or of indices that two subscripts share, each element tests many terms that are others'; the message says at most how\n"
	 "many for each of its own, with open sizes counted as 1024.  Sum in two steps, or write the sum over what meets in an element.\n"
	 "Slow:   y(2 * u + k + l) +=! x(u) * v(k) * w(l)\n"
	 "Fast:   t(k + l) +=! v(k) * w(l)   y(2 * u + i) +=! x(u) * t(i)\n"},
	{217, "an index ends at the lesser of two sizes",
	 "Tensors of different sizes are read at the same index, so it takes the values that all of them have.  One name for both\n"
	 "extents says that they are equal, and callers are held to it; a `where` says that the lesser is meant.\n"
	 "Wrong:  def f(float(N) A, float(M) B) -> (O) { O(i) = A(i) + B(i) }\n"
	 "Right:  def f(float(N) A, float(N) B) -> (O) { O(i) = A(i) + B(i) }\n"
	 "Right:  def f(float(N) A, float(M) B) -> (O) { O(i) = A(i) + B(i) where i in 0:min(N, M) }\n"},
	{218, "a product of sizes may wrap around",
	 "Sizes are int32, and so is a product of them that meets only int32 values or is stored as one: above 2147483647 it wraps\n"
	 "around.  What becomes a float or a 64-bit integer is calculated in int64.\n"
	 "Wrong:  def f(int32(N) A, size M, size K) -> (O) { O(i) = A(i) + M * K }\n"
	 "Right:  def f(int32(N) A, size M, size K) -> (O) { O(i) = A(i) + int64(M * K) }\n"
	 "Right:  def f(int32(N) A, size M, size K) -> (O) sizes M=1:1024, K=1:1024 { O(i) = A(i) + M * K }\n"},
	{219, "a condition that is always true",
	 "A branch of ?: reads a tensor under a condition on the subscript, and the ranges that were found make the condition true for all\n"
	 "values of the indices. If they were meant to have more values, as for padding, say so with `where`.\n"
	 "Wrong:  def f(float(N) A, float(3) W) -> (O) { O(i) +=! i + k - 1 >= 0 && i + k - 1 < N ? A(i + k - 1) * W(k) : 0 }\n"
	 "Right:  def f(float(N) A, float(3) W) -> (O) { O(i) +=! i + k - 1 >= 0 && i + k - 1 < N ? A(i + k - 1) * W(k) : 0 where i in 0:N }\n"},
	{301, "a size range cannot be read",
	 "M=64 is one value, M=1:8192 a range with both ends, K=64* every multiple of 64, K=64:4096*64 those in a range; several are\n"
	 "separated by commas or blanks.\n"
	 "Wrong:  -s M=x\n"
	 "Right:  -s M=64\n"},
	{302, "a size that is not possible",
	 "Sizes and extents are 0 to 2147418112, that is 2^31 - 65536: tiles reach beyond the last element, and their indices have\n"
	 "32 bits.  A range goes from the least value to the greatest.\n"
	 "Wrong:  -s M=64:1\n"
	 "Right:  -s M=1:64\n"},
	{303, "a multiple of 0",
	 "Wrong:  -s K=0*\n"
	 "Right:  -s K=64*\n"},
	{304, "no such size",
	 "The size occurs in no input and is not a `size` parameter.\n"
	 "For   def f(float(N) A) -> (O) ..\n"
	 "Wrong:  -s M=64\n"
	 "Right:  -s N=64\n"},
	{305, "no value is left for a size",
	 "No multiple of the divisor lies in the range, or what was given contradicts what the definition says.\n"
	 "Wrong:  -s N=65:127*64\n"
	 "Right:  -s N=64:128*64\n"},
	{306, "a size outside of its range",
	 "The definition or -s allows other values only.\n"},
	{307, "a size that is not a multiple of its divisor",
	 "The definition or -s says that it is: K=64* allows 0, 64, 128, ..\n"},
	{308, "a size is given twice",
	 "Wrong:  -s M=1,M=2\n"
	 "Right:  -s M=1:2\n"},
	{309, "no such definition",
	 "The file has definitions of other names only.\n"},
	{310, "an index goes beyond 32 bits",
	 "Indices have 32 bits, and tiles reach beyond the last element: an index has values up to 2147450879.  Where that depends on\n"
	 "sizes it is a precondition.\n"
	 "Wrong:  def f(float(2 * N) A) -> (O) sizes N=2000000000 { O(i) = A(i) }\n"
	 "Right:  def f(float(2, N) A) -> (O) sizes N=2000000000 { O(j, i) = A(j, i) }\n"},
	{400, "unknown chip",
	 "The word after the colon of a target is the name or an alias of a descriptor: `heddle arch list` shows them.  Private ones\n"
	 "are looked for in the folders of --path and of HEDDLE_PATH.\n"
	 "Wrong:  -t cuda:h20\n"
	 "Right:  -t cuda:h200\n"},
	{402, "a descriptor or dialect that is not YAML",
	 "The YAML parser stopped at this place; tabs for indentation and missing blanks after a colon are the usual reasons.\n"},
	{403, "unknown key in a descriptor",
	 "Every key has a meaning, so a misspelt one is not passed over.  doc/arch.md lists them all.\n"
	 "Wrong:  shared_per_blok: { value: 48, unit: KiB, source: \"...\" }\n"
	 "Right:  shared_per_block: { value: 48, unit: KiB, source: \"...\" }\n"},
	{404, "a key is given twice",
	 "One of the two would be lost: keep the right one.\n"},
	{405, "a value in a descriptor has the wrong form",
	 "The message says which form the key wants: a text, true or false, a list, or a quantity.\n"
	 "Wrong:  aliases: sm_90a\n"
	 "Right:  aliases: [sm_90a]\n"},
	{406, "a quantity without its unit",
	 "48 of what?  Numbers about a chip always say their unit, and where they come from.\n"
	 "Wrong:  shared_per_block: 48\n"
	 "Right:  shared_per_block: { value: 48, unit: KiB, source: \"programming guide, table 21\" }\n"},
	{407, "a quantity in the wrong unit",
	 "The unit is not known, or is one of another kind (a time where memory is wanted).  The message lists those that fit.\n"
	 "Wrong:  clock: { value: 1980, unit: MB, source: \"...\" }\n"
	 "Right:  clock: { value: 1980, unit: MHz, source: \"...\" }\n"},
	{408, "an impossible value in a descriptor",
	 "The value cannot be true of any chip (nothing or less, a warp that is no power of two), or contradicts another value (a block\n"
	 "that may use more shared memory than its unit has).\n"},
	{409, "a number without a source",
	 "Say where the number was read, or say that it is a guess.\n"
	 "Wrong:  units: { value: 132, unit: count }\n"
	 "Right:  units: { value: 132, unit: count, source: \"H200 datasheet\" }\n"
	 "Right:  units: { value: 132, unit: count, assumed: true }\n"},
	{410, "a descriptor inherits from an unknown one",
	 "There is no file of that name beside this one, in the search folders, or among those compiled in.\n"},
	{411, "descriptors inherit in a circle",
	 "Following `inherits` leads back to where it began.  To change a descriptor that comes with Heddle, inherit from it under a new\n"
	 "name.\n"},
	{412, "an abstract descriptor as a target",
	 "A descriptor with `abstract: true` holds what several chips share.  Name one of those chips.\n"},
	{413, "a descriptor is not complete",
	 "What must be known of every chip was not given, neither in the file nor in what it inherits from.\n"},
	{414, "a descriptor's file has another name than the descriptor",
	 "Descriptors are found by file name, so NAME.yaml says `name: NAME`.\n"},
	{415, "a descriptor has no such value to change",
	 "`heddle plan --sweep` changes one value of a chip: a key of its descriptor, one of a memory, or an arithmetic rate.\n"
	 "Wrong:  --sweep shared=64K,128K\n"
	 "Right:  --sweep shared_per_block=64K,128K\n"
	 "Right:  --sweep l2.size=1M,2M\n"
	 "Right:  --sweep float32=100T,200T\n"},
	{416, "a descriptor speaks an unknown backend",
	 "`backend` names a dialect: backends/NAME/dialect.yaml among those built in or in a folder of --path or HEDDLE_PATH.\n"
	 "Wrong:  backend: cudaa\n"
	 "Right:  backend: cuda\n"},
	{450, "there is no such backend",
	 "A target is BACKEND:CHIP, and the backend has a dialect: backends/NAME/dialect.yaml among those built in or in a folder of\n"
	 "--path or HEDDLE_PATH.\n"
	 "Wrong:  -t cudaa:h200\n"
	 "Right:  -t cuda:h200\n"},
	{451, "a dialect is not a well-formed YAML mapping",
	 "dialect.yaml is a mapping from keys to words (templates), mappings and lists, of at most 4 MiB and 10000 words; the message\n"
	 "has the place and the reason.\n"},
	{452, "a dialect has an unknown key",
	 "The keys of a dialect are fixed: the table in backends/dialect.c and doc/dialects.md list them.\n"},
	{453, "a word of a dialect has an unknown placeholder",
	 "Each word may use only the placeholders of its key; the message lists them.\n"
	 "Wrong:  shuffle: \"xor({x}, {mask})\"\n"
	 "Right:  shuffle: \"xor({value}, {mask})\"\n"},
	{454, "a dialect lacks a word",
	 "A dialect, or one that it inherits, must say how its language writes everything that a program may contain.\n"},
	{455, "a prelude has a malformed piece",
	 "A piece begins with a line `//: name parameter=value,value...` and is the text up to the next such line.  A prelude has at\n"
	 "most 4096 pieces, values of parameters multiplied, and one heading makes at most 4 MiB.\n"},
	{456, "not a target",
	 "A target is BACKEND:CHIP, or CHIP alone where its descriptor names a backend.\n"
	 "OpenCL is for every chip, the others for those whose descriptor names them.\n"
	 "Wrong:  -t cuda\n"
	 "Wrong:  -t cuda:mi300x\n"
	 "Right:  -t cuda:h200, -t h200\n"},
	{457, "the dialect cannot write this",
	 "The program contains something that the language has no word for, such as a warp shuffle in OpenCL C.  Programs made for\n"
	 "the target do not; one made by hand, or for another target, may.\n"},
	{458, "the chip has no float64",
	 "The descriptor says `float64: false`, and the definition stores or computes in float64 (double).  Nothing is computed in\n"
	 "float32 instead without being asked.\n"
	 "Wrong:  def f(double(N) A) -> (B) { B(i) = A(i) * 2 }    for opencl:gpu\n"
	 "Right:  def f(float(N) A) -> (B) { B(i) = A(i) * 2 }\n"},
	{501, "a config line that cannot be read",
	 "The config is one line of parts, as in\n"
	 "  split=none; fuse=0,0; k0: order=j,i threads=256; k0.S0: tile=i:64,j:64,k:8 thread=i:16,j:16; k0.A.0: space=shared\n"
	 "A key that is not known, a number where a name should stand, or a part given twice is an error.\n"
	 "Wrong:  --config \"k0.S0: tile=64\"\n"
	 "Right:  --config \"k0.S0: tile=i:64\"\n"},
	{510, "a split that cannot be made",
	 "`split=STATEMENT:DIMENSION:CHUNK` cuts a reduction into chunks that a further statement sums.  The statement must exist,\n"
	 "reduce over that dimension, and write elements that are named by plain indices, none of which ends with what is summed.\n"
	 "Wrong:  split=0:i:64   (i is an index of the left-hand side of C(i) +=! A(i,k))\n"
	 "Right:  split=0:k:64\n"},
	{511, "`fuse` does not list each statement once",
	 "`fuse` names the kernel of each statement, in order, from 0 without gaps.  A split adds a statement of its own;\n"
	 "a recurrence, h(t, c) = .. where t in 1:T, and the first step before it, h(0, c) = .., are one statement.\n"
	 "Wrong:  fuse=0,2     (two statements, no kernel 1)\n"
	 "Right:  fuse=0,1\n"},
	{512, "`fuse` breaks the order of the statements",
	 "A statement cannot be in a kernel before that of a statement whose result it reads.\n"
	 "Wrong:  fuse=1,0     (statement 1 reads what statement 0 writes)\n"
	 "Right:  fuse=0,1 or fuse=0,0\n"},
	{513, "the config names something that is not there",
	 "Dimensions are the indices of the statement, groups are called TENSOR.NUMBER, and both must occur in that kernel.\n"
	 "`heddle plan` prints the names that a definition has.\n"
	 "Wrong:  k0.S0: tile=x:16     (the statement has i, j, k)\n"
	 "Right:  k0.S0: tile=i:16\n"},
	{514, "a tile that rounds, threads and vectors do not divide",
	 "The tile of a dimension is shared by its threads, each with whole vectors, in one round or several:\n"
	 "tile = rounds x threads x vector x items.\n"
	 "Wrong:  tile=i:20 thread=i:8\n"
	 "Right:  tile=i:16 thread=i:8\n"},
	{515, "statements of one kernel are laid out differently",
	 "What statements of a kernel share (its block dimensions) must have the same tile, rounds, threads and vector in all of them.\n"
	 "Wrong:  k0.S0: tile=i:32; k0.S1: tile=i:64\n"
	 "Right:  k0.S0: tile=i:32; k0.S1: tile=i:32\n"},
	{516, "a number of threads that the dimensions do not divide",
	 "`threads` of a kernel must be a multiple of the threads that its dimensions take; the rest are lanes.\n"
	 "Wrong:  k0: threads=100; k0.S0: thread=i:8,j:8\n"
	 "Right:  k0: threads=128; k0.S0: thread=i:8,j:8\n"},
	{517, "more threads than the chip allows in a block",
	 "The descriptor's threads_per_block is a limit of the hardware.  Take fewer threads.\n"},
	{518, "a dimension that cannot be spread like this",
	 "A dimension that carries a dependence runs in order: it can have no threads, vector or tile.  A reduction is spread by\n"
	 "`reduce=k:lanes`.  Rounds are for the dimensions that blocks are cut along; others have steps of their tile.\n"
	 "Wrong:  k0.S0: thread=t:8        (for h(t) = h(t - 1) ...)\n"
	 "Right:  k0.S0: tile=t:1\n"},
	{519, "lanes that do not fit",
	 "One dimension of a statement can take the lanes of its kernel, all of them: the threads that are left when the block\n"
	 "dimensions have theirs.\n"},
	{520, "a tensor that cannot be staged",
	 "`space=shared` needs a tensor that the kernel only reads, in a box whose size does not change from step to step.\n"
	 "Leave the group in `space=global`.\n"},
	{521, "an order that is not a permutation",
	 "`order` of a group lists each of its dimensions once, counted from 0.  That of a kernel may leave some out, which follow then.\n"
	 "Wrong:  k0.A.0: order=0,0\n"
	 "Right:  k0.A.0: order=1,0\n"},
	{522, "a vector, threads or phases that do not divide a row",
	 "A group is moved in vectors along its rows: the row of a tile must be a multiple of the vector.  Threads along a row are a power of\n"
	 "two that divides the threads of the block.  Phases take a row of the tile's array apart: it has as many elements at least, is no row\n"
	 "that goes on through several dimensions, and is moved by threads.\n"
	 "Wrong:  vector=4 for rows of 6 elements\n"
	 "Right:  vector=2\n"
	 "Wrong:  columns=3\n"
	 "Right:  columns=4\n"},
	{523, "a tensor that cannot live in registers",
	 "Registers belong to one thread: every element must be used by one thread only, and written before it is read.\n"},
	{524, "more shared memory than a block has",
	 "The tiles of a kernel, and what its lanes exchange, live in the block's shared memory together. Smaller tiles, or one group\n"
	 "less with space=shared, make it fit.  `heddle arch show CHIP` tells the limit.\n"
	 "Wrong:  k0.S0: tile=i:512,j:512,k:64\n"
	 "Right:  k0.S0: tile=i:128,j:128,k:8\n"},
	{525, "a vector that is not a power of two",
	 "Languages have vectors of 2, 4, 8 and 16 members; longer ones are several of these.\n"
	 "Wrong:  k0.S0: tile=i:6 vector=i:3\n"
	 "Right:  k0.S0: tile=i:8 vector=i:4\n"},
	{526, "a copy that cannot move a tile",
	 "`copy=NAME` lets the chip's own copy bring a tile into shared memory.  The descriptor must list it under `copies`, and rows of\n"
	 "the tile must be consecutive in the tensor (no `order`, innermost stride 1) and keep the copy's alignment and granularity.\n"
	 "`heddle arch show CHIP` lists the copies of a chip.\n"
	 "Right:  k0.A.0: space=shared copy=async_work_group_copy\n"},
	{527, "arrays of a thread that are too large",
	 "A block that goes over its tile in rounds, in each step of a reduction, keeps the sums of all of them in memory of its threads, at\n"
	 "most 64 KiB each.  Where the reduction is one step a thread keeps those of one round only.\n"
	 "Wrong:  k0.S0: tile=i:65536,j:16 round=i:8192 vector=j:16\n"
	 "Right:  k0.S0: tile=i:128,j:16 round=i:16 vector=j:16\n"},
	{528, "stores past the caches on a chip that has none",
	 "`stream=` asks for stores that do not go through the caches: the descriptor says with `streaming_stores` whether the chip has them.\n"
	 "Wrong:  k0: stream=C      (for a GPU, whose lines are not read before they are written)\n"
	 "Right:  k0: stream=none\n"},
	{529, "nothing to share",
	 "`share=STATEMENT` computes the largest expression of a statement once that a later statement computes again: both over the same\n"
	 "ranges of indices, of floats, of tensors that no statement in between writes.  A statement is listed once.\n"
	 "Wrong:  share=0     (for t(i) +=! A(i,j)   B(i,j) = exp(A(i,j)) / t(i))\n"
	 "Right:  share=0     (for t(i) +=! exp(A(i,j))   B(i,j) = exp(A(i,j)) / t(i))\n"},
	{530, "what cannot be asked for ahead",
	 "`prefetch=N` asks for the lines that the N-th block from here reads while this one reads its own.  The descriptor says with\n"
	 "`prefetches` whether the chip can; the tensor is read in global memory by plain indices, one of them the kernel's fastest member,\n"
	 "and its sizes are given.  A tile in shared memory that a block's threads fill is loaded one step ahead, with prefetch=1.\n"
	 "Wrong:  k0.B.0: prefetch=1     (for C(i,j) +=! A(i,k) * B(k,j) with `order=j,i`: the next block reads the same B)\n"
	 "Right:  k0.I.1: prefetch=1     (for t(n) max=! I(n,d)   O(n,d) = I(n,d) - t(n))\n"},
	{531, "more resident blocks than a unit holds",
	 "`resident=N` shares the registers of a unit of the chip out to N blocks at the same time.  A unit has room for so many threads\n"
	 "as the descriptor's `threads_per_unit` says; a vector unit has one block.\n"
	 "Wrong:  k0: threads=256 resident=16     (h100: 2048 threads a unit)\n"
	 "Right:  k0: threads=256 resident=8\n"},
	{532, "nothing to turn",
	 "`turn=STATEMENT:TENSOR:DIMENSION` copies a tensor that a statement reads so that its rows run along that dimension of the\n"
	 "statement.  The subscripts of the read are different indices from 0 to a size, and the dimension is one of them, but not the\n"
	 "last one; where a condition chooses whether it is read, they must be sure to be inside of the tensor.\n"
	 "Wrong:  turn=0:B:k     (for C(i,j) +=! A(k,i) * B(j,k): rows of B run along k)\n"
	 "Right:  turn=0:A:k     (rows of the copy of A run along k, too)\n"},
	{600, "a pass has reached its limit of work",
	 "The polyhedral operations of a pass are limited, so that compiling ends.  A definition with fewer statements or simpler\n"
	 "subscripts per `def`, or fixed sizes (-s), makes it easier.\n"},
	{601, "a register array indexed by a loop that is too long to unroll",
	 "What one thread keeps in registers is indexed by constants alone, so the loops over it are written out.  This one would become\n"
	 "too long: choose a smaller tile for each thread (`thread=` and `vector=` of the config).\n"},
	{602, "a simpler schedule was taken",
	 "The polyhedral passes reached their bound of operations or of time on this definition. It was compiled again with one\n"
	 "kernel per statement and one element per thread: right, but slow. Fixed sizes (-s N=1024), fewer indices per statement or\n"
	 "splitting the definition bring the full schedule back.\n"},
	{603, "a statement runs as written",
	 "Scheduling a statement that depends on itself reached the bound of polyhedral operations. Its loops keep the order of its\n"
	 "indices, none of them in parallel: right, but slow. Fewer indices, or fixed sizes (-s N=1024), make it easier.\n"},
	{610, "a range that is not affine",
	 "Ranges of indices must be sums of sizes and other indices with constant factors, divided by constants.\n"
	 "Wrong:  where i in 0:M*N\n"
	 "Right:  two indices, i in 0:M and j in 0:N\n"},
	{611, "a write at an indirect subscript",
	 "A subscript read from a tensor may choose what is read, not where is written: two writes might meet.\n"
	 "Wrong:  C(I(i)) = A(i)\n"
	 "Right:  C(i) = A(I(i))\n"},
	{612, "a statement with too many indices, or a tensor with too many dimensions",
	 "A tensor has at most 8 dimensions and a statement at most 16 indices.  Make one dimension of two that are used together;\n"
	 "split the statement into two with a temporary in between.\n"},
	{613, "a grid of too many blocks",
	 "A launch takes so many blocks as the chip's descriptor says (`grid_limit`), at most 2147483647, and every one of these sizes needs\n"
	 "more.  Give smaller sizes (-s) or larger tiles (`tile=` of the config), or launch a definition for a part of the tensors several\n"
	 "times.  With open sizes the entry checks it (TOO_MANY_BLOCKS).\n"},
	{620, "a tensor is too large",
	 "Under these sizes the tensors do not fit the memory here three times: as they are given, for the reference and for what is\n"
	 "tested.  Give smaller sizes.\n"},
	{701, "an .npy file has a bad header",
	 "The file is not NumPy's .npy format, or its header is damaged, cut short, of an unknown version or has more than 8\n"
	 "dimensions.  `numpy.save` writes what is wanted here.\n"},
	{702, "an .npy file holds another type",
	 "The file's element type differs from the tensor's, or has no counterpart (complex, records, text).  Convert it first:\n"
	 "    numpy.save(\"a.npy\", a.astype(numpy.float32))\n"
	 "NumPy has no bfloat16: such a tensor is read from and written as uint16 (its bits).\n"},
	{703, "an .npy file is shorter or longer than its shape says",
	 "The bytes after the header are not those of shape and type: the file was cut short or overwritten.\n"},
	{710, "a subscript leaves its tensor",
	 "While the definition was evaluated a subscript was outside 0:extent.  With a subscript that is read from a tensor\n"
	 "(gather) the index tensor holds a value that does not fit: correct the input.\n"},
	{711, "an element is read before it is written",
	 "A statement reads an element of a temporary or output that no statement before it wrote, or accumulates into one.\n"
	 "Wrong:  C(m,n) += A(m,k) * B(k,n)     with C a temporary\n"
	 "Right:  C(m,n) +=! A(m,k) * B(k,n)    which initialises first\n"},
	{712, "a precondition does not hold",
	 "The definition is only meaningful for sizes for which the stated condition is true: choose other sizes.\n"},
	{714, "arrays that do not suit the definition",
	 "Each input needs an array of the type and shape that the definition gives it for these sizes.\n"},
	{715, "an output element that no statement writes",
	 "The statements leave part of an output without a value; it could hold anything.\n"},
	{716, "sizes for a test cannot be chosen",
	 "No small sizes fulfil the ranges, divisors and preconditions, or no index values keep a gather inside its tensor.  Name\n"
	 "them in the file:  #: sizes M=64 N=64 K=64\n"
	 "Sizes that -s fixes are taken as they are, as long as the case is not too large for a test (E0719).\n"},
	{717, "a bad test line in a file",
	 "A `#:` line of a definition is not understood.  Known: sizes, reach, config, expect, fill, allow, error.\n"
	 "Right:  #: sizes M=64 N=64 K=64\n"
	 "Right:  #: fill A=0.5:2 B=integers\n"
	 "Right:  #: allow zero y\n"},
	{718, "an output declared to be zero is not",
	 "`#: allow zero y` says that y is 0 in every case by construction, such as `x - mean(x)` over a single column.  The reference\n"
	 "computes another value at the element and the sizes in the message: remove the line, or mend the definition.\n"},
	{719, "a case is too large for a test",
	 "A test fills every tensor three times (given, expected, computed) and runs each case at several levels, some of which simulate\n"
	 "threads: a case has at most 2^28 elements in all tensors together and, where its sizes come from -s, 1e9 computed values.\n"
	 "Give smaller sizes; `heddle bench` takes larger ones. `heddle test --level compile` runs nothing and takes all sizes.\n"},
	{720, "a process or shared memory cannot be made",
	 "The system refused a child process, a file in memory or shared memory: its reason is in the message.\n"},
	{721, "no sizes suit both the definition and a manifest",
	 "A hand-written kernel is tested at sizes that its manifest's ranges, divisors and preconditions allow and that the definition\n"
	 "and -s allow, too; the message has both.  Widen the manifest's `sizes`, or name sizes that fit:  #: sizes N=64 D=128\n"},
	{750, "no memory for an emulated array",
	 "The emulator keeps a copy of every array and about twelve bytes of notes per byte that a kernel may write.  Test with\n"
	 "smaller sizes.\n"},
	{751, "no array for an argument of the manifest",
	 "A run needs a host array for every input, output, inout and scalar argument that the manifest lists.\n"},
	{771, "the interpreter was given a wrong array",
	 "Every input, output and scalar of the program needs an array of its type and of the shape that the sizes give.\n"},
	{783, "a manifest is not JSON",
	 "The message has the place and what the parser expected.\n"},
	{784, "a manifest breaks a rule of its schema",
	 "schema/heddle.manifest.1.json says what a manifest may hold; the message names the key.\n"},
	{785, "a formula of a manifest cannot be evaluated",
	 "A formula is made of whole numbers, sizes of the manifest, + - * / %, min(,), max(,) and parentheses; preconditions may also\n"
	 "compare and use && || !.\n"
	 "Wrong:  \"(M+127)/B\"   where B is no size\n"
	 "Right:  \"(M+127)/128\"\n"},
	{786, "a manifest with something left to fill in",
	 "`heddle manifest` writes what the source says and leaves the rest as text that begins with TODO: grids, shapes, the ranges of\n"
	 "indices, roles that the prototype does not tell.  Put numbers, formulas over the sizes or names in their place.\n"
	 "Wrong:  \"grid\": [\"TODO: blocks along x\", 1, 1]\n"
	 "Right:  \"grid\": [\"(N+127)/128\", 1, 1]\n"},
	{787, "text that cannot be taken",
	 "The source uses something that no level here can pass or run: a texture, an image, a structure by value, a library that is not\n"
	 "there.  It is neither right nor wrong: it is not tested.\n"},
	{788, "text that was not fully understood",
	 "Without a C preprocessor on this machine, or without a header of the source, part of the text stays as it is.  Install one\n"
	 "(apt install cpp), or give the folder of the header with -I.\n"},
	{789, "no such kernel in the source",
	 "A kernel is a function marked __global__ or __kernel that has a body, in a part of the text that the conditionals keep; -D\n"
	 "defines macros.  --instance names one of the file's kernels.\n"},
	{801, "a command cannot be started",
	 "A tool that Heddle runs (a compiler, a validator, a descriptor's command) is not there, may not be executed, or the system\n"
	 "has no room for another process.  `heddle doctor` lists the tools and how to add each.\n"},
	{802, "a compiler or driver failed by itself",
	 "The tool did not judge the source, it broke: a library without an expected function, a missing device library, no memory.\n"
	 "The message has its own words.  This says nothing about the kernel.\n"},
	{803, "a descriptor's command has a placeholder that does not exist",
	 "Known are {source}, {output}, {arch}, {options} and {folder}, the folder of the descriptor's file.\n"
	 "Wrong:  compiler: [mycc, {input}, -o, {output}]\n"
	 "Right:  compiler: [mycc, \"{options}\", \"{source}\", -o, \"{output}\"]\n"},
	{810, "nothing here can run a kernel for this target",
	 "Running needs a device of the target, or for a processor an OpenCL driver.  `heddle doctor` says what works here and how\n"
	 "to add the rest; `--level emulate` runs CUDA and HIP text on the processor.\n"},
	{811, "a way of running gives no times",
	 "Only real devices and OpenCL drivers can be timed.\n"},
	{812, "a line of the runner protocol is not understood",
	 "`heddle serve-run` reads one JSON object a line, each a request, and answers each with a line.  doc/backend.md describes\n"
	 "them.  The request is refused, and the next one is read.\n"},
	{901, "a file cannot be read",
	 "The file does not exist, is a folder, may not be read, or is larger than 64 MiB.  The message has the system's reason.\n"},
	{902, "a file or folder cannot be written",
	 "The disk is full, the folder does not exist or may not be written, or the name is too long for a file.\n"
	 "Nothing was left half written: files are written beside their place first and renamed when they are whole.\n"},
	{910, "unknown verb",
	 "The first word after `heddle` must be a verb: `heddle --help` lists them.\n"},
	{911, "unknown option",
	 "The verb does not take this option: `heddle VERB --help` lists those that it takes.\n"},
	{912, "an option without its value, or with one that it does not take",
	 "Wrong:  heddle emit a.tc -o\n"
	 "Right:  heddle emit a.tc -o out\n"},
	{913, "an argument is missing",
	 "The verb needs a file, a name or a code: `heddle VERB --help` shows the form.\n"},
	{914, "one argument too many",
	 "The verb takes fewer arguments than were given: `heddle VERB --help` shows the form.\n"},
	{915, "an option has a bad value",
	 "The value cannot be read or is not one of those allowed; the message names them.\n"},
	{916, "no such definition in the file",
	 "--def NAME must name a `def` of the file.  A file with one definition needs no --def.\n"},
	{917, "several definitions and none chosen",
	 "`run`, `plan` and `bench -s` work on one definition: choose with --def NAME; the message names those of the file.\n"
	 "Wrong:  heddle run layers/norm.tc -s N=64,D=256\n"
	 "Right:  heddle run layers/norm.tc --def rmsnorm -s N=64,D=256\n"},
	{918, "a size is missing, unknown or out of its range",
	 "Every size symbol that the verb needs must be given, and only those of the definition, within their ranges.\n"
	 "For   def mm(float(M,K) A, float(K,N) B) -> (C)\n"
	 "Wrong:  -s M=64,N=64          (K is missing)\n"
	 "Wrong:  -s M=64,N=64,K=64,Q=1 (no size Q)\n"
	 "Right:  -s M=64,N=64,K=64\n"},
	{919, "two files of the same name",
	 "Two definitions or targets would write the same file.  Write them to different folders, or use --prefix.\n"},
	{920, "an input that does not fit",
	 "--input NAME=FILE.npy must name an input of the definition, and the file must hold the shape that the sizes give.\n"
	 "Wrong:  -s M=4,K=8 --input A=a.npy    where a.npy is (8,4)\n"
	 "Right:  -s M=8,K=4 --input A=a.npy\n"},
	{921, "a hand-written kernel does not fit the definition",
	 "The tensors, sizes and types of the manifest given with --impl must be those of the definition, by name.\n"},
	{922, "a definition that cannot be a function of C",
	 "The entry of a definition is a C function of its name, so `emit` cannot write `def main` or `def exp`.  --prefix puts\n"
	 "something before the name.\n"
	 "Wrong:  heddle emit a.tc                    (a.tc has def register(..))\n"
	 "Right:  heddle emit a.tc --prefix my_\n"},
	{923, "a lock that cannot be read",
	 "A lock is what 'heddle emit --lock FILE' wrote: JSON with \"schema\": \"heddle.lock/1\".  After a merge that went wrong it can\n"
	 "be written anew from nothing.\n"
	 "Right:  rm heddle.lock; heddle emit f.tc -t cuda:h200 --lock heddle.lock\n"},
	{924, "the lock has this definition with another text",
	 "The definition was changed after its config was pinned, so the pinned one may not fit: a new one is chosen and takes its\n"
	 "place in the lock.  With --check nothing is written, and the lock counts as different.\n"},
	{925, "a definition that a framework cannot call",
	 "PyTorch has no tensors of uint16, uint32 and uint64 (older ones) and finds the device of a call by its tensors, so that there\n"
	 "must be one.\n"
	 "Wrong:  def f(uint32(N) A) -> (O) { O(i) = A(i) }      with --binding torch\n"
	 "Right:  def f(int32(N) A) -> (O) { O(i) = A(i) }\n"},
	{926, "a report that cannot be merged",
	 "`heddle report merge` takes what `heddle test --json` wrote, whole: a JSON document whose member \"report\" says\n"
	 "\"schema\": \"heddle.test/1\".\n"
	 "Right:  heddle test layers --json > here.json; heddle report merge here.json there.json\n"},
	{927, "a kernel for longer vectors than this processor has",
	 "The target's descriptor states longer vectors than CPUID does, so that each operation on one is several here, and sums that\n"
	 "were to stay in registers do not fit them.  Results are right; times are not what this processor can do.\n"
	 "Wrong:  heddle bench f.tc -t opencl:cpu       on a processor of 256-bit vectors\n"
	 "Right:  heddle bench f.tc -t host\n"},
	{950, "internal error",
	 "Heddle contradicted itself.  This is a defect in Heddle, not in your source; please report it with the source, the sizes\n"
	 "and the command line.\n"},
	{951, "the text of a program cannot be read",
	 "`--dump program` prints programs in a text form that is read back by tests and tools; doc/ir.md describes it.  The\n"
	 "message says what was expected at the place.\n"
	 "Wrong:  C[i] = x        (x is a buffer)\n"
	 "Right:  C[i] = x[]      (a scalar)      C[i] = x[i]  (an element)\n"},
	{960, "a polyhedral operation failed",
	 "isl gave up on an operation inside a pass.  This is a defect in Heddle; please report the source, the sizes and the target.\n"},
	{961, "a loop without an end, or a number beyond its type, in generated code",
	 "What a loop of a kernel would run is not bounded, or its bound needs more bits than the kernel's indices have.  This is a\n"
	 "defect in Heddle; please report the source, the sizes, the target and the config.\n"},
	{970, "a kernel that the proof refuses",
	 "The mapped kernel would not do what the definition says.  No text was written.  This is a defect in Heddle, in the pass\n"
	 "that the message names; please report the source, the sizes, the target and the config.\n"},
	{0, NULL, NULL},
};
