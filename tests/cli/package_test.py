#!/usr/bin/env python3
"""What is installed and packed: the relocatable tar.gz runs where nothing but a C library is, and needs no newer one than it says.

usage: package_test.py SOURCE BUILD [CASE...]
BUILD is the build folder that is tested; the preset "portable" is built in its folder "portable", unless it is of that kind.
With HEDDLE_TEST_ROOTS="FOLDER..." the tar.gz and the Debian package are also tried in these root file systems (ci/bare.sh makes them).
SPDX-License-Identifier: MIT
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(sys.argv[2]).resolve()
NEWEST = (2, 34)


def run(*words, code=0, timeout=900, **keywords):
    p = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=timeout, **keywords)
    if code is not None and p.returncode != code:
        raise AssertionError(f"{' '.join(map(str, words))}: exit {p.returncode}\n{p.stdout[-4000:]}{p.stderr[-4000:]}")
    return p.stdout


def is_static(build):
    return "HEDDLE_STATIC:BOOL=ON" in (build / "CMakeCache.txt").read_text() or "HEDDLE_STATIC:UNINITIALIZED=ON" in (
        build / "CMakeCache.txt").read_text()


def portable():
    """The build folder of the portable preset, its packages made."""
    build = BUILD if is_static(BUILD) else BUILD / "portable"
    run("cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", "-DHEDDLE_STATIC=ON", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_COMPILER=gcc",
        "-DCMAKE_C_FLAGS=-O2 -g1", *launcher())
    run("ninja", "-C", build, "heddle", "heddle_reference", "heddle_whole")
    for old in [*build.glob("*.tar.gz"), *build.glob("*.deb")]:
        old.unlink()
    run("cpack", "--config", build / "CPackConfig.cmake", cwd=build)
    return build


def launcher():
    for line in (BUILD / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("CMAKE_C_COMPILER_LAUNCHER:"):
            return ["-D" + line]
    return ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []


def needs(path):
    """(libraries, newest version of the C library) from the ELF file."""
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", path))
    versions = [tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([0-9.]+)", run("readelf", "-V", path))]
    return libraries, max(versions)


def can_chroot():
    return shutil.which("unshare") and subprocess.run(["unshare", "-r", "true"], capture_output=True).returncode == 0


SCRIPT = """set -e
cd "$(mktemp -d)"
heddle=$1 share=$2
$heddle --version
$heddle check "$share"/layers/softmax.tc
$heddle emit "$share"/examples/linear.tc -s B=256,I=1024,O=1024 -t cuda:h200,hip:mi300x,opencl:cpu -o out
test -s out/linear__opencl_cpu.c
$heddle test "$share"/layers/softmax.tc -t cuda:h200,hip:mi300x,opencl:cpu --level interpret
"""


class Portable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.build = portable()
        cls.folder = tempfile.TemporaryDirectory(prefix="heddle-package-")
        archives = list(cls.build.glob("heddle-*.tar.gz"))
        assert len(archives) == 1, archives
        with tarfile.open(archives[0]) as tar:
            tar.extractall(cls.folder.name)
        cls.root = next(pathlib.Path(cls.folder.name).iterdir())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_elf(self):
        libraries, newest = needs(self.root / "bin/heddle")
        self.assertLessEqual(set(libraries), {"libc.so.6", "libm.so.6"})
        self.assertLessEqual(newest, NEWEST)
        # That this test reads such files rightly: the C++ library of this machine needs more.
        self.assertTrue(needs(shutil.which("python3"))[0])

    def test_contents(self):
        for name in ("bin/heddle", "include/heddle/heddle.h", "lib/libheddle.a", "lib/pkgconfig/heddle.pc",
                     "share/cmake/Heddle/HeddleConfig.cmake", "share/heddle/layers/softmax.tc", "share/heddle/examples/linear.tc",
                     "share/doc/heddle/language.md", "share/doc/heddle/errors.md", "share/doc/heddle/NOTICE",
                     "share/doc/heddle/licences/isl", "share/bash-completion/completions/heddle"):
            self.assertTrue((self.root / name).is_file(), name)
        # GMP's licence lies there if GMP is in the program: its own words for running out of memory tell.
        with_gmp = b"GNU MP: Cannot allocate memory" in (self.root / "bin/heddle").read_bytes()
        self.assertEqual((self.root / "share/doc/heddle/licences/gmp").is_file(), with_gmp)
        self.assertTrue(list((self.root / "share/man/man1").glob("heddle-emit.1*")))
        for path in self.root.rglob("*"):
            self.assertFalse(path.is_file() and b"/portable/" in path.read_bytes() and path.suffix in (".pc", ".cmake"), path)

    def test_runs_with_a_c_library_alone(self):
        """A root file system of the program, the dynamic loader, libc and libm: not even a shell."""
        if not can_chroot():
            self.skipTest("no user namespaces here: unshare -r fails")
        with tempfile.TemporaryDirectory() as root:
            for library in re.findall(r"(/\S+)", run("ldd", self.root / "bin/heddle")):
                os.makedirs(root + os.path.dirname(library), exist_ok=True)
                shutil.copy(library, root + library)
            shutil.copytree(self.root, root + "/heddle")
            os.makedirs(root + "/tmp")

            def inside(*words):
                return run("unshare", "-r", "chroot", root, "/heddle/bin/heddle", *words, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})

            inside("check", "/heddle/share/heddle/layers/softmax.tc")
            inside("emit", "/heddle/share/heddle/examples/linear.tc", "-t", "cuda:h200,hip:mi300x,opencl:cpu", "-o", "/tmp/out")
            self.assertEqual(len(os.listdir(root + "/tmp/out")), 8)
            self.assertIn(" passed", inside("test", "/heddle/share/heddle/layers/softmax.tc", "-t", "opencl:cpu", "--level", "interpret"))

    def test_library(self):
        """libheddle.a needs no other library, and shows nothing of those within."""
        names = run("nm", "-g", "--defined-only", self.root / "lib/libheddle.a")
        self.assertEqual([n for n in re.findall(r" [A-Z] (\w+)", names) if not n.startswith("heddle_")], [])
        main = pathlib.Path(self.folder.name) / "main.c"
        main.write_text("#include <heddle/heddle.h>\n#include <stdio.h>\nint isl_ctx_alloc(void) { return 3; }\n"
                        "int main(void)\n{\n\theddle_ctx *ctx = heddle_ctx_new();\n\tconst char *words[] = {\"explain\", \"E0101\"};\n"
                        "\tchar *out = NULL;\n\tint code = heddle_verb(ctx, 2, words, &out, NULL);\n\tfputs(out, stdout);\n"
                        "\theddle_string_free(out);\n\theddle_ctx_free(ctx);\n\treturn code + (isl_ctx_alloc() != 3);\n}\n")
        flags = run("pkg-config", "--cflags", "--libs", "heddle", env=dict(os.environ, PKG_CONFIG_PATH=str(self.root / "lib/pkgconfig"))).split()
        run("gcc", main, "-o", main.with_suffix(""), *flags)
        self.assertIn("E0101", run(main.with_suffix("")))

    def test_cmake(self):
        """find_package in the unpacked folder, wherever it lies: the kernels' function, and the library for a C++ program."""
        project = pathlib.Path(self.folder.name) / "project"
        project.mkdir()
        (project / "main.cpp").write_text('#include <heddle/heddle.h>\n#include "linear.h"\n#include <cstdio>\nint main()\n{\n'
                                          '\tstd::printf("%s %zu\\n", heddle_version(), linear_opencl_workspace(3));\n}\n')
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES C CXX)\nfind_package(Heddle 0.1 REQUIRED)\n"
            "add_subdirectory(k)\nadd_executable(p main.cpp)\ntarget_link_libraries(p Heddle::library k)\n")
        (project / "k").mkdir()
        (project / "k/CMakeLists.txt").write_text(
            "add_library(k STATIC)\ntarget_include_directories(k PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/k.kernels)\n"
            f"heddle_add_kernels(TARGET k FILES {self.root}/share/heddle/examples/linear.tc TARGETS opencl:cpu SIZES I=8,O=3)\n")
        run("cmake", "-S", project, "-B", project / "b", f"-DCMAKE_PREFIX_PATH={self.root}")
        run("cmake", "--build", project / "b")
        self.assertRegex(run(project / "b/p"), r"^\d+\.\d+\.\d+ \d+$")

    def test_debian(self):
        packages = sorted(p.name for p in self.build.glob("*.deb"))
        self.assertEqual([re.sub("_.*", "", p) for p in packages], ["heddle", "libheddle-dev"])
        package = next(self.build.glob("heddle_*.deb"))
        depends = run("dpkg-deb", "-f", package, "Depends").strip()
        self.assertRegex(depends, r"^libc6 \(>= 2\.\d+\)$")
        self.assertLessEqual(tuple(map(int, re.search(r"(\d+)\.(\d+)", depends).groups())), NEWEST)
        self.assertIn("/usr/bin/heddle", run("dpkg-deb", "-c", package))
        if shutil.which("lintian"):
            self.assertEqual(run("lintian", "--allow-root", *self.build.glob("*.deb"), stdin=subprocess.DEVNULL).strip(), "")

    def test_bare_roots(self):
        roots = os.environ.get("HEDDLE_TEST_ROOTS", "").split()
        if not roots:
            self.skipTest("HEDDLE_TEST_ROOTS names no root file systems (ci/bare.sh makes them)")
        for root in map(pathlib.Path, roots):
            target = root / "opt/heddle"
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(self.root, target)
            (root / "opt/try.sh").write_text(SCRIPT)
            self.assertIn(" passed", run("chroot", root, "sh", "/opt/try.sh", "/opt/heddle/bin/heddle", "/opt/heddle/share/heddle"))
            if (root / "usr/bin/dpkg").exists():
                shutil.copy(next(self.build.glob("heddle_*.deb")), root / "opt/heddle.deb")
                run("chroot", root, "dpkg", "-i", "/opt/heddle.deb")
                self.assertIn(" passed", run("chroot", root, "sh", "/opt/try.sh", "heddle", "/usr/share/heddle"))
                run("chroot", root, "dpkg", "-r", "heddle")
            print(f"{root}: " + re.search(r'PRETTY_NAME="(.*)"', (root / "etc/os-release").read_text()).group(1))


class Install(unittest.TestCase):
    def test_components(self):
        with tempfile.TemporaryDirectory() as folder:
            run("cmake", "--install", BUILD, "--prefix", "/usr", "--component", "runtime", env=dict(os.environ, DESTDIR=folder))
            self.assertTrue(os.access(folder + "/usr/bin/heddle", os.X_OK))
            self.assertFalse(os.path.exists(folder + "/usr/include"))
            self.assertEqual(run(folder + "/usr/bin/heddle", "--version"), run(BUILD / "heddle", "--version"))
            run("cmake", "--install", BUILD, "--prefix", "/usr", "--component", "development", env=dict(os.environ, DESTDIR=folder))
            self.assertTrue(os.path.exists(folder + "/usr/include/heddle/heddle.h"))
            self.assertTrue(os.path.exists(folder + "/usr/lib/libheddle.a"))

    def test_uninstalled(self):
        """A project that finds Heddle in the folder in which it was built, with make: kernels are written again when the layer changes."""
        if not shutil.which("make"):
            self.skipTest("make is not here")
        with tempfile.TemporaryDirectory() as folder:
            project = pathlib.Path(folder)
            (project / "scale.tc").write_text("def scale(float(N) x) -> (y) {\n\ty(i) = 2 * x(i)\n}\n")
            (project / "main.c").write_text('#include "scale.h"\nint main(void)\n{\n\treturn scale_opencl_workspace(3) != 0;\n}\n')
            (project / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES C)\nfind_package(Heddle 0.1 REQUIRED)\n"
                "add_executable(p main.c)\nheddle_add_kernels(TARGET p FILES scale.tc TARGETS opencl:cpu hip:mi300x SIZES N=1:64)\n")
            out = run("cmake", "-G", "Unix Makefiles", "-S", folder, "-B", project / "b", f"-DHeddle_DIR={BUILD}")
            self.assertIn("scale__hip_mi300x.hip is written but not compiled: the project does not enable HIP", out)
            run("cmake", "--build", project / "b")
            run(project / "b/p")
            kernel = project / "b/p.kernels/scale__opencl_cpu.cl"
            first = kernel.stat().st_mtime_ns
            run("cmake", "--build", project / "b")
            self.assertEqual(first, kernel.stat().st_mtime_ns)
            (project / "scale.tc").write_text("def scale(float(N) x) -> (y) {\n\ty(i) = 3 * x(i)\n}\ndef more(float(N) x) -> (y) {\n\ty(i) = x(i)\n}\n")
            run("cmake", "--build", project / "b")
            self.assertIn("3.0f", kernel.read_text())
            self.assertTrue((project / "b/p.kernels/more__opencl_cpu.c").exists())
            (project / "scale.tc").write_text("def scale(float(N) x) -> (y) {\n\ty(i) = 3 * z(i)\n}\n")
            p = subprocess.run(["cmake", "--build", project / "b"], capture_output=True, text=True)
            self.assertNotEqual(p.returncode, 0)
            self.assertIn("E0101", p.stdout + p.stderr)
            for call, why in (("TARGET q FILES scale.tc TARGETS opencl:cpu", "there is no target q"), ("TARGET p FILES scale.tc", "must be given"),
                              ("TARGET p FILES scale.tc TARGETS opencl:cpu SIZE N=1", "unknown chip `SIZE`")):
                (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES C)\nfind_package(Heddle REQUIRED)\n"
                                                        f"add_executable(p main.c)\nheddle_add_kernels({call})\n")
                p = subprocess.run(["cmake", "-S", folder, "-B", project / "c", f"-DHeddle_DIR={BUILD}"], capture_output=True, text=True)
                self.assertIn(why, p.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
