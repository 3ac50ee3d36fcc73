/* The codes of all diagnostics with their explanations, sorted: what `heddle explain` prints.
 *
 * To add one: a row at its place in the order.  The explanation says what is wrong and why, shows an example that is wrong
 * and the right one; lines end in \n.
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"

const heddle_code heddle_codes[] = {
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
	{450, "there is no such backend",
	 "A target is BACKEND:CHIP, and the backend has a dialect: backends/NAME/dialect.yaml among those built in or in a folder of\n"
	 "--path or HEDDLE_PATH.\n"
	 "Wrong:  -t cudaa:h200\n"
	 "Right:  -t cuda:h200\n"},
	{451, "a dialect is not a well-formed YAML mapping",
	 "dialect.yaml is a mapping from keys to words (templates), mappings and lists; the message has the place and the reason.\n"},
	{452, "a dialect has an unknown key",
	 "The keys of a dialect are fixed: the table in backends/dialect.c and doc/dialects.md list them.\n"},
	{453, "a word of a dialect has an unknown placeholder",
	 "Each word may use only the placeholders of its key; the message lists them.\n"
	 "Wrong:  shuffle: \"xor({x}, {mask})\"\n"
	 "Right:  shuffle: \"xor({value}, {mask})\"\n"},
	{454, "a dialect lacks a word",
	 "A dialect, or one that it inherits, must say how its language writes everything that a program may contain.\n"},
	{455, "a prelude has a malformed piece",
	 "A piece begins with a line `//: name parameter=value,value...` and is the text up to the next such line.\n"},
	{456, "not a target",
	 "A target is BACKEND:CHIP, or CHIP alone where its descriptor names a backend.\n"
	 "Wrong:  -t cuda:\n"
	 "Right:  -t cuda:h200, -t h200\n"},
	{457, "the dialect cannot write this",
	 "The program contains something that the language has no word for, such as a warp shuffle in OpenCL C.  Programs made for\n"
	 "the target do not; one made by hand, or for another target, may.\n"},
	{620, "a tensor is too large",
	 "Under these sizes a tensor does not fit the memory here.  Give smaller sizes.\n"},
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
	{713, "integer division by zero, or a shift by too many bits",
	 "The result is undefined on every device.  Correct the input, or guard: (d == 0) ? 0 : n / d\n"},
	{714, "arrays that do not suit the definition",
	 "Each input needs an array of the type and shape that the definition gives it for these sizes.\n"},
	{715, "an output element that no statement writes",
	 "The statements leave part of an output without a value; it could hold anything.\n"},
	{716, "sizes for a test cannot be chosen",
	 "No small sizes fulfil the ranges, divisors and preconditions, or no index values keep a gather inside its tensor.  Name\n"
	 "them in the file:  #: sizes M=64 N=64 K=64\n"},
	{717, "a bad test line in a file",
	 "A `#:` line of a definition is not understood.  Known: sizes, config, expect, fill, error.\n"
	 "Right:  #: sizes M=64 N=64 K=64\n"
	 "Right:  #: fill A=0.5:2 B=integers\n"},
	{720, "a process or shared memory cannot be made",
	 "The system refused a child process, a file in memory or shared memory: its reason is in the message.\n"},
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
	{801, "a command cannot be started",
	 "A tool that Heddle runs (a compiler, a validator, a descriptor's command) is not there, may not be executed, or the system\n"
	 "has no room for another process.  `heddle doctor` lists the tools and how to add each.\n"},
	{802, "a compiler or driver failed by itself",
	 "The tool did not judge the source, it broke: a library without an expected function, a missing device library, no memory.\n"
	 "The message has its own words.  This says nothing about the kernel.\n"},
	{803, "a descriptor's command has a placeholder that does not exist",
	 "Known are {source}, {output}, {arch} and {options}.\n"
	 "Wrong:  compiler: [mycc, {input}, -o, {output}]\n"
	 "Right:  compiler: [mycc, \"{options}\", \"{source}\", -o, \"{output}\"]\n"},
	{810, "nothing here can run a kernel for this target",
	 "Running needs a device of the target, or for a processor an OpenCL driver.  `heddle doctor` says what works here and how\n"
	 "to add the rest; `--level emulate` runs CUDA and HIP text on the processor.\n"},
	{811, "a way of running gives no times",
	 "Only real devices and OpenCL drivers can be timed.\n"},
	{901, "a file cannot be read",
	 "The file does not exist, is a folder, may not be read, or is larger than 64 MiB.  The message has the system's reason.\n"},
	{902, "a file or folder cannot be written",
	 "The disk is full, the folder does not exist or may not be written.  Nothing was left half written: files are written\n"
	 "beside their place first and renamed when they are whole.\n"},
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
	 "The verb works on one definition: choose with --def NAME.\n"},
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
	{950, "internal error",
	 "Heddle contradicted itself.  This is a defect in Heddle, not in your source; please report it with the source, the sizes\n"
	 "and the command line.\n"},
	{951, "the text of a program cannot be read",
	 "`--dump program` prints programs in a text form that is read back by tests and tools; doc/ir.md describes it.  The\n"
	 "message says what was expected at the place.\n"
	 "Wrong:  C[i] = x        (x is a buffer)\n"
	 "Right:  C[i] = x[]      (a scalar)      C[i] = x[i]  (an element)\n"},
	{0, NULL, NULL},
};
