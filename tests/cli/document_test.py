#!/usr/bin/env python3
"""Runs a document: its files are written, its commands executed in their order, and what they print is compared.

A fenced block with file=NAME in its first line is a file; the files of earlier sections are there, too.  A block "sh" is run with bash,
and a block "text" right after it is what it must print.  needs=TOOL,... on a block skips the section's commands where TOOL is missing.
usage: document_test.py DOCUMENT BUILD [SECTION...]
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

DOCUMENT = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(sys.argv[2]).resolve()


def blocks(text):
    """(language, attributes, content) of each fenced block."""
    for head, content in re.findall(r"^```(\S+[^\n]*)\n(.*?)^```$", text, flags=re.M | re.S):
        language, *words = head.split()
        yield language, dict(w.split("=", 1) for w in words), content


def python_with(module):
    """A Python that has this module, ours or the system's; None: neither."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import " + module], capture_output=True).returncode == 0:
            return python
    return None


def missing(tools):
    """What of `tools` is not here, as a reason; None: all is."""
    for tool in filter(None, tools.split(",")):
        if tool == "torch":
            if not python_with("torch.utils.cpp_extension"):
                return "PyTorch is not here: apt-get install python3-torch libtorch-dev python3-setuptools"
        elif tool == "cuda-device":
            if not os.path.exists("/dev/nvidia0"):
                return "there is no NVIDIA GPU here"
        elif not shutil.which(tool):
            return f"{tool} is not here"
    return None


class Document(unittest.TestCase):
    """One test per section (made below)."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="heddle-document-")
        cls.prefix = pathlib.Path(cls.folder.name) / "installed"
        subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(cls.prefix)], check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_block(self, folder, content):
        environment = dict(os.environ, PATH=f"{self.prefix}/bin:{os.environ['PATH']}", CMAKE_PREFIX_PATH=str(self.prefix),
                           PKG_CONFIG_PATH=f"{self.prefix}/lib/pkgconfig", PYTHON=python_with("torch.utils.cpp_extension") or sys.executable)
        p = subprocess.run(["bash", "-euo", "pipefail", "-c", content], cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
        self.assertEqual(p.returncode, 0, f"{content}\n{p.stdout}{p.stderr}")
        return p.stdout

    def section(self, number, content):
        folder = pathlib.Path(self.folder.name) / f"section{number}"
        folder.mkdir()
        printed, why = None, None
        for language, attributes, text in blocks("".join(parts[i * 2 + 1] for i in range(number))):
            if "file" in attributes:
                (folder / attributes["file"]).write_text(text)
        for language, attributes, text in blocks(content):
            if "file" in attributes:
                (folder / attributes["file"]).write_text(text)
            why = why or missing(attributes.get("needs", ""))
            if language == "sh" and not why:
                printed = self.run_block(folder, text)
            elif language == "text" and not why:
                self.assertIsNotNone(printed, "nothing was run before")
                # Times differ: "1.5 s" is as good as "T s".
                self.assertEqual(re.sub(r"\b[\d.]+ s$", "T s", printed, flags=re.M), text)
                printed = None
        if why:
            self.skipTest(why)


def add(number, title, content):
    name = f"test_{number:02}_" + re.sub(r"\W+", "_", title.strip().lower())
    setattr(Document, name, lambda self: self.section(number, content))
    return name


parts = re.split(r"^## (.*)\n", DOCUMENT.read_text(), flags=re.M)[1:]
names = [add(i // 2, parts[i], parts[i + 1]) for i in range(0, len(parts), 2) if "```sh" in parts[i + 1] or "file=" in parts[i + 1]]
if not names:
    sys.exit(f"{DOCUMENT}: no section can be run")

if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
