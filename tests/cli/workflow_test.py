# The workflow of examples/ci: its steps run as they stand, in a folder that is a copy of the example, with a good kernel and with a
# broken one.  Without HEDDLE_TEST_ROOTS only the step that tests, here; with it every step, in bare root file systems (ci/bare.sh).
# usage: workflow_test.py SOURCE BUILD
# SPDX-License-Identifier: MIT
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
EXAMPLE = SOURCE / "examples/ci"


def steps():
    """(name, shell text) of each step with `run`, in order; the file's YAML is of the plainest kind."""
    lines = (EXAMPLE / "heddle.yml").read_text().split("\n")
    found, name = [], ""
    for i, line in enumerate(lines):
        m = re.match(r"      - name: (.*)", line)
        name = m.group(1) if m else name
        m = re.match(r"        run: (.*)", line)
        if m and m.group(1) != "|":
            found.append((name, m.group(1)))
        elif m:
            block = []
            for more in lines[i + 1:]:
                if more.strip() and not more.startswith(" " * 10):
                    break
                block.append(more[10:])
            found.append((name, "\n".join(block).strip() + "\n"))
    return found


def copy_to(folder):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(EXAMPLE / "kernels", folder / "kernels")


def spoil(folder):
    """A barrier less."""
    source = folder / "kernels/rms_norm.cu"
    text = source.read_text()
    assert text.count("\t__syncthreads();\n") == 1
    source.write_text(text.replace("\t__syncthreads();\n", "\n"))  # lines stay
    return next(n for n, line in enumerate(text.split("\n"), 1) if "sum += part[w];" in line)


class Workflow(unittest.TestCase):
    def judge_red(self, p, line):
        self.assertEqual(p.returncode, 1, p.stdout + p.stderr)
        self.assertRegex(p.stdout, rf"(?m)^::error file=kernels/rms_norm\.cu,line=(\d+),title=race::")
        self.assertRegex(p.stdout, rf"rms_norm\.cu:{line}\b|line={line},")

    def test_steps(self):
        names = [n for n, _ in steps()]
        self.assertEqual(names, ["Tools that the levels need", "Heddle", "What is here", "Kernels"])
        self.assertIn("heddle test kernels/rms_norm.tc", dict(steps())["Kernels"])

    def test_document(self):
        """doc/ci.md shows the file as it is."""
        text = (SOURCE / "doc/ci.md").read_text()
        self.assertIn("```yaml\n" + (EXAMPLE / "heddle.yml").read_text() + "```\n", text)

    def test_here(self):
        for tool in ("g++",):
            if not shutil.which(tool):
                self.skipTest(f"{tool} is not here")
        command = dict(steps())["Kernels"].replace("emulate,opencl-cpu:pocl,opencl-cpu:oclgrind", "emulate")
        command = command.replace(" --impl kernels/rms_norm_opencl.json", "")
        env = dict(os.environ, PATH=f"{BUILD}:{os.environ['PATH']}")
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder) / "repository"
            copy_to(folder)
            p = subprocess.run(["bash", "-e", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=300)
            self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
            self.assertTrue((folder / "heddle.xml").exists() and (folder / "heddle.sarif").exists())
            line = spoil(folder)
            self.judge_red(subprocess.run(["bash", "-e", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=300), line)

    def test_bare_roots(self):
        roots = os.environ.get("HEDDLE_TEST_ROOTS", "").split()
        if not roots:
            self.skipTest("HEDDLE_TEST_ROOTS names no root file systems (ci/bare.sh makes them)")
        archive = next(BUILD.glob("heddle-*.tar.gz"))
        suite = re.search(r"container: debian:(\w+)", (EXAMPLE / "heddle.yml").read_text()).group(1)
        fitting = [root for root in map(Path, roots) if f"VERSION_CODENAME={suite}" in (root / "etc/os-release").read_text()]
        self.assertTrue(fitting, f"none of {roots} is {suite}, which the workflow is for")
        for root in fitting:
            copy_to(root / "repository")
            shutil.copy(archive, root / "heddle.tar.gz")
            path = "/usr/sbin:/usr/bin:/sbin:/bin"
            for name, text in steps():
                # What the code host does between steps: the variable, and folders added to PATH.
                env = {"HEDDLE_URL": "file:///heddle.tar.gz", "GITHUB_PATH": "/repository/added", "PATH": path, "HOME": "/root",
                       "DEBIAN_FRONTEND": "noninteractive"}

                def inside(text=text, env=env):
                    # A container has these; PoCL does not start without them.
                    mounts = 'mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" && '
                    return subprocess.run(["unshare", "--mount", "sh", "-c", mounts + 'exec chroot "$0" sh -e -c "$1"', str(root),
                                           "cd /repository\n" + text], env=env, capture_output=True, text=True, timeout=1800)

                p = inside()
                self.assertEqual(p.returncode, 0, f"{root}: {name}\n{p.stdout[-4000:]}{p.stderr[-4000:]}")
                if (root / "repository/added").exists():
                    path = (root / "repository/added").read_text().strip() + ":" + path
                    (root / "repository/added").unlink()
                if name == "Kernels":
                    print(f"{root}: green: " + p.stdout.strip().split("\n")[-1])
                    line = spoil(root / "repository")
                    self.judge_red(inside(), line)
                    print(f"{root}: red with a barrier less, at line {line}")


if __name__ == "__main__":
    unittest.main()
