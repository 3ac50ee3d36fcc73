/* The codes of all diagnostics with their explanations, sorted: what `heddle explain` prints.
 *
 * To add one: a row at its place in the order.  The explanation says what is wrong and why, shows an example that is wrong
 * and the right one; lines end in \n.
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"

const heddle_code heddle_codes[] = {
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
	{950, "internal error",
	 "Heddle contradicted itself.  This is a defect in Heddle, not in your source; please report it with the source, the sizes\n"
	 "and the command line.\n"},
	{0, NULL, NULL},
};
