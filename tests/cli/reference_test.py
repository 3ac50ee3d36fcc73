#!/usr/bin/env python3
"""Manual pages, completion and the error index say what the tables of the program say.

usage: reference_test.py PROGRAM [CASE...]
SPDX-License-Identifier: MIT
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HEDDLE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "heddle"
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Read from the sources, not from the program that is to be judged.
VERBS = re.findall(r"^\t\[HEDDLE_VERB_\w+\] = \{\"([\w-]+)\"", (ROOT / "cli/verbs.c").read_text(), flags=re.M)
ROWS = re.findall(r"^\t\[HEDDLE_OPTION_\w+\] = \{\"(--[\w-]+)\",.*?([A-Z_| ]+)\},$", (ROOT / "cli/options.c").read_text(), flags=re.M | re.S)


SHORT = dict(re.findall(r"^#define (\w+) \(1u << HEDDLE_VERB_(\w+)\)$", (ROOT / "cli/options.c").read_text(), flags=re.M))


def heddle(*words):
    return subprocess.run([HEDDLE, *words], capture_output=True, text=True, timeout=60, check=True).stdout


def options_of(verb):
    constant = verb.upper().replace("-", "_")
    return [name for name, verbs in ROWS if verbs.strip() == "ALL" or constant in [SHORT[v] for v in verbs.replace(" ", "").split("|")]]


class Reference(unittest.TestCase):
    def test_library(self):
        """Each name that a public header declares links against the shared library."""
        library = pathlib.Path(HEDDLE).parent / "libheddle.so"
        if not library.exists() or not shutil.which("cc"):
            self.skipTest("no shared library here, or no C compiler")
        headers = sorted((ROOT / "include/heddle").glob("*.h"))
        text = re.sub(r"/\*.*?\*/", "", "".join(h.read_text() for h in headers), flags=re.S)
        names = re.findall(r"^[a-z][\w *]*?[ *](heddle_\w+)\(", text, flags=re.M)
        self.assertGreater(len(names), 5)
        includes = "".join(f'#include "heddle/{h.name}"\n' for h in headers)
        uses = "".join(f"\tuse((void (*)(void))&{name});\n" for name in names)
        with tempfile.TemporaryDirectory(prefix="heddle-link-") as folder:
            source = pathlib.Path(folder, "all.c")
            source.write_text(f"{includes}static void use(void (*volatile f)(void)) {{ (void)f; }}\nint main(void)\n{{\n{uses}}}\n")
            p = subprocess.run(["cc", "-Wall", f"-I{ROOT}/include", source, library, "-Wl,--unresolved-symbols=ignore-in-shared-libs", "-o", folder + "/all"],
                               capture_output=True, text=True)
        self.assertEqual(p.returncode, 0, p.stderr)

    def test_tables(self):
        self.assertGreater(len(VERBS), 8)
        self.assertGreater(len(ROWS), 20)
        self.assertIn("--depfile" if "--depfile" in dict(ROWS) else "--check", options_of("emit"))
        self.assertNotIn("--check", options_of("test"))

    def test_pages(self):
        program = heddle("man")
        for verb in VERBS:
            self.assertIn(f"\\fB{verb}\\fR", program.replace("\\-", "-"))
            page = heddle("man", verb).replace("\\-", "-")
            for option in options_of(verb):
                self.assertIn(f"\\fB{option}\\fR", page, verb)

    def test_pages_render(self):
        if not shutil.which("mandoc") and not shutil.which("man"):
            self.skipTest("neither mandoc nor man here")
        with tempfile.TemporaryDirectory() as folder:
            for verb in ["", *VERBS]:
                name = os.path.join(folder, f"heddle{'-' if verb else ''}{verb}.1")
                with open(name, "w") as f:
                    f.write(heddle("man", *([verb] if verb else [])))
                for tool in (["mandoc", "-T", "lint", "-W", "warning", name], ["man", "--warnings", "-l", name]):
                    if shutil.which(tool[0]):
                        p = subprocess.run(tool, capture_output=True, text=True, timeout=60, env=dict(os.environ, MANWIDTH="80", PAGER="cat"))
                        self.assertEqual((p.returncode, p.stderr), (0, ""), f"{tool}: {p.stdout}")
                        if tool[0] == "mandoc":
                            self.assertEqual(p.stdout, "")

    def test_completion_names_all(self):
        for shell, form in (("bash", "{}"), ("zsh", "{}"), ("fish", "-l {}")):
            text = heddle("completion", shell)
            for verb in VERBS:
                self.assertRegex(text, rf"(?m)\b{verb}\b", shell)
            for option, _ in ROWS:
                self.assertIn(form.format(option[2:] if shell == "fish" else option), text)
            if shutil.which(shell):
                p = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, timeout=60)
                self.assertEqual((p.returncode, p.stderr), (0, ""), shell)

    def complete(self, *words):
        script = heddle("completion", "bash") + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _heddle 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"\n'
        p = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, timeout=60)
        return p.stdout.split()

    def test_bash(self):
        self.assertEqual(sorted(self.complete("heddle", "")), sorted([*VERBS, "--help", "--version"]))
        self.assertEqual(self.complete("heddle", "em"), ["emit"])
        for verb in VERBS:
            self.assertEqual(sorted(self.complete("heddle", verb, "--")), sorted(options_of(verb)))
        self.assertEqual(self.complete("heddle", "test", "--cases", "g"), ["given"])
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "sub"))
            open(os.path.join(folder, "file.tc"), "w").close()
            self.assertEqual(self.complete("heddle", "emit", folder + "/f"), [folder + "/file.tc"])
            self.assertEqual(self.complete("heddle", "emit", "-o", folder + "/"), [folder + "/sub"])

    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not here")
        with tempfile.NamedTemporaryFile("w", suffix=".fish") as f:
            f.write(heddle("completion", "fish"))
            f.flush()
            p = subprocess.run(["fish", "--no-config", "-c", f"source {f.name}; complete -C 'heddle emit --'"], capture_output=True, text=True,
                               timeout=60)
            found = {line.split("\t")[0] for line in p.stdout.splitlines()}
            self.assertEqual(set(options_of("emit")) - found, set())

    def test_error_index(self):
        self.assertEqual((ROOT / "doc/errors.md").read_text(), heddle("explain", "--all"),
                         "doc/errors.md is old: heddle explain --all > doc/errors.md")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
