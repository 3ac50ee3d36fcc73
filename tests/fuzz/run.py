#!/usr/bin/env python3
"""The fuzzers: builds them with clang's libFuzzer under ASan and UBSan, and runs them.

    run.py build FOLDER                      configure and build in FOLDER
    run.py run FOLDER NAME [-n RUNS] [-o OUT]  NAME: lexer, parser, ..; seeds and words are collected from the sources

Exit code 0: no finding; 1: a finding, whose input is kept in OUT (FOLDER/findings); 77: clang has no libFuzzer here.  An
input that takes more than 5 seconds of the processor or 1 GiB counts as a finding.  HEDDLE_TEST_FULL=1 in the environment: 1,000,000 runs.

SPDX-License-Identifier: MIT
"""
import argparse
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]

# For each reader: files whose text are seeds, and sources whose string literals make the dictionary.
readers = {
    "lexer": (["layers/*.tc", "tests/bad/*.tc"], ["frontend/lexer.c"]),
    "parser": (["tests/bad/*.tc", "layers/*.tc", "tests/programs/*.tc"], ["frontend/*.c"]),
    "sizes": ([], ["frontend/sizes.c"]),
    "descriptor": (["arch/*.yaml"], ["arch/*.c"]),
    "dialect": (["backends/*/dialect.yaml"], ["backends/*.c"]),
    "formula": ([], ["compile/formula.c"]),
    "manifest": (["tests/golden/*.json", "tests/handwritten/*.json"], ["compile/*.c", "base/types.c"]),
    "config": ([], ["model/config.c", "model/scop.c"]),
    "program": (["tests/golden/*.program"], ["model/program_words.c", "model/program_tokens.c", "model/program_parse_value.c", "model/program_parse.c"]),
    "npy": ([], ["harness/npy.c"]),
}
lines = {
    "sizes": ["M=64", "M=1:8192,K=64*,N=4096", "K=64:4096*64", "A=0 B=2147483647"],
    "formula": ["(M+127)/128", "min(M,N)*4", "(M%K==0)?max(M,1):-(N/K)", "!(M<N)&&K>=64||M!=N", "((M+N)*K)/7"],
    "config": [
        "split=0:i:64; fuse=0,0,1; k0: order=j,i threads=256 lanes=inner; k0.S0: tile=i:128,j:128,k:8 thread=i:16,j:16 "
        "vector=j:4 reduce=k:sequential; k0.A.0: space=shared order=1,0 pad=4 vector=4; k0.C.0: space=register",
        "fuse=0; k0: threads=32 lanes=outer; k0.S0: tile=i:1 reduce=k:lanes",
    ],
}
sanitizers = "-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"


def has_libfuzzer(clang):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "t.c")
        source.write_text("#include <stddef.h>\nint LLVMFuzzerTestOneInput(const unsigned char *d, size_t n);\n"
                          "int LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) { return d && n > 9 && 0; }\n")
        done = subprocess.run([clang, "-fsanitize=fuzzer,address,undefined", source, "-o", pathlib.Path(folder, "t")],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return done.returncode == 0


def build(folder):
    clang = shutil.which("clang")
    if not clang or not has_libfuzzer(clang):
        print("skipped: clang is not here or has no libFuzzer; ci/setup.sh installs it")
        return 77
    command = ["cmake", "-S", root, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_C_COMPILER={clang}",
               f"-DCMAKE_C_FLAGS={sanitizers}", "-DHEDDLE_FUZZ=ON"]
    if shutil.which("ccache"):
        command.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
    for step in (command, ["cmake", "--build", folder, "-j", "2", "--target", *("fuzz_" + name for name in readers)]):
        done = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            print(done.stdout[-4000:])
            return 1
    return 0


def seeds(name, folder):
    """Small ones as they are; of large ones also their beginning, so that changes there are cheap."""
    patterns, _ = readers[name]
    slow = ("e0012_many_alternatives",)  # what is refused after a second: its changes would be most of the time
    texts = [path.read_bytes() for pattern in patterns for path in sorted(root.glob(pattern)) if path.stem not in slow]
    texts += [line.encode() for line in lines.get(name, [])]
    if name in ("lexer", "parser"):  # each definition of a file alone
        texts += [b"def " + part for text in list(texts) for part in re.split(rb"^def ", text, flags=re.M)[1:]]
    if name == "npy":
        for head in ("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                     "{'descr': '>i2', 'fortran_order': True, 'shape': (3,), }", "{'descr': '|b1', 'fortran_order': False, 'shape': (), }"):
            texts.append(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head) + 1) + head.encode() + b"\n" + bytes(24))
            texts.append(b"\x93NUMPY\x02\x00" + struct.pack("<I", len(head) + 1) + head.encode() + b"\n" + bytes(24))
    if name == "dialect":  # parts of them in dialects that inherit the rest, and pieces behind a line of dots
        parts = [part for text in texts for part in re.split(rb"^(?=[a-z_]+:)", text, flags=re.M) if part[:5] not in (b"name:", b"title")]
        texts += [b"name: x\ninherits: %s\n%s" % (parent, part) for part in parts for parent in (b"opencl", b"hip")]
        texts += [b"name: x\ninherits: opencl\n...\n//: heddle_a_{t}_{u} t=float,int u/v=1/2,4/8\n{t}{u} heddle_a_{t}_{u}({v});\n",
                  b"name: x\ninherits: cuda\n...\n//: heddle_min\nheddle_a(x)\n\n//: heddle_a\nx\n"]
    for number, text in enumerate(texts):
        pathlib.Path(folder, f"seed{number}").write_bytes(text[:8000])


def dictionary(name, path):
    words = set()
    for pattern in readers[name][1]:
        for source in root.glob(pattern):
            for word in re.findall(r'"((?:[^"\\\n]|\\.)*)"', source.read_text()):
                if 0 < len(word) <= 20 and re.fullmatch(r"[ -!#-\[\]-~]+", word) and " " not in word and "%" not in word:
                    words.add(word)
    words |= {"2147483647", "-2147483648", "9223372036854775807", "18446744073709551616", "1e308"}
    path.write_text("".join(f'"{word}"\n' for word in sorted(words)))


def run(folder, name, runs, out):
    program = pathlib.Path(folder, "tests/fuzz", "fuzz_" + name)
    if not program.exists():
        print(f"skipped: no {program}")
        return 77
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        corpus = pathlib.Path(work, "corpus")
        corpus.mkdir()
        seeds(name, corpus)
        words = pathlib.Path(work, "words")
        dictionary(name, words)
        largest = 700 if name in ("lexer", "parser") else 1500 if name == "dialect" else 4000
        command = [program, f"-runs={runs}", "-seed=1", f"-max_len={largest}", "-timeout=100", "-rss_limit_mb=1024",
                   "-malloc_limit_mb=1024", f"-dict={words}", "-print_final_stats=1", f"-artifact_prefix={out}/{name}-", corpus]
        environment = dict(os.environ, ASAN_OPTIONS="allocator_may_return_null=1:quarantine_size_mb=16",
                           UBSAN_OPTIONS="print_stacktrace=1")
        log = out / f"{name}.log"  # grows while it runs
        start = os.times()
        with log.open("wb") as stream:
            done = subprocess.run(command, stdout=stream, stderr=subprocess.STDOUT, env=environment, check=False)
        seconds = os.times()
    said = log.read_text(errors="replace")
    stats = re.findall(r"stat::(\w+):\s*(\d+)", said)
    print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in stats) +
          f", {seconds.elapsed - start.elapsed:.0f} s, of the processor {seconds.children_user - start.children_user:.0f} s")
    if done.returncode:
        print(said[-6000:])
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=["build", "run"])
    parser.add_argument("folder")
    parser.add_argument("name", nargs="?", choices=sorted(readers))
    parser.add_argument("-n", type=int, default=1000000 if os.environ.get("HEDDLE_TEST_FULL") else 10000)
    parser.add_argument("-o", type=pathlib.Path)
    given = parser.parse_args()
    if given.verb == "build":
        return build(given.folder)
    return run(given.folder, given.name, given.n, given.o or pathlib.Path(given.folder, "findings"))


sys.exit(main())
