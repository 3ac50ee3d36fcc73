"""What bench/static.sh tabulates: see there.

Registers, spilled bytes, stack (CUDA: stack frame, HIP: private segment) and shared memory are the vendor's compiler's own word.

Widths are bytes of one lane's access, counted over the instructions of the vendor's disassembly (CUDA without cuobjdump: of PTX).

Which accesses are contiguous, and which banks they need, is counted on the emitted text: its subscripts are evaluated for the lanes of
the first warp of block 0, with loops at their first and their second round.  Subscripts that depend on data are left out, and so are
the branches of blocks at an edge, where the sizes do not allow whole vectors.

  narrow     accesses to one tensor in one block of the text, taken together, touch only whole runs of bytes that begin and end at
             multiples of 16, in a tensor whose rows are multiples of 16 bytes too; yet they are less than 16 bytes wide, in the text
             and in some instruction of the kernel.
  too few threads
             the same where the sizes do not allow it: threads with 16 bytes each would be too few to keep memory busy, which takes
             twice its bandwidth times its latency, by the descriptor, of 128 bytes that a thread has asked for on average.
  conflict   the banks need more cycles than the fewest for as many words, counted as harness/interpret_watch.c does: 32 banks of 4
             bytes serve so many lanes at once as ask for 128 bytes (so a warp of 64 goes in halves, which it counts as one).
  FMA        of the instructions of the innermost loop that has most of them; one that holds two operations counts as two, those that
             only keep time (NOP, s_nop, s_delay_alu) do not count.  Asked of the product of matrices, at its own sizes and at 4096.

  registers  the model's estimate (`heddle plan`) beside the compiler's count: near within max(8, 15 %).
  resident   blocks that a unit holds at once, the model's beside those that the compiler's registers, the launch's threads and the shared
             memory allow by the descriptor's limits: the fewest of blocks, threads and shared memory (with what the system keeps for each
             block) of a unit, and of the warps that each scheduler's part of the registers is enough for.  For AMD that last number is
             the compiler's own remark, occupancy in waves a SIMD.

usage: bench/static.py HEDDLE FILE.json [TARGET,.. [WORD]]
SPDX-License-Identifier: MIT
"""
import collections
import datetime
import glob
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

heddle, output = sys.argv[1], sys.argv[2]
named = [t for t in (sys.argv[3] if len(sys.argv) > 3 else "").split(",") if t]
only = sys.argv[4] if len(sys.argv) > 4 else ""
targets = named or ["cuda:a100", "cuda:h100", "hip:mi300x", "hip:rx7900xtx"]
WIDE = 16
BANKS, BANK_WIDTH = 32, 4
FMA_WANTED = 0.85
# The share of FMA is asked of this one; also at sizes where no chip lacks blocks, since tiles grow with them.
GEMM = ("layers/products.tc", "matmul")
LARGE = {GEMM: "M=4096,N=4096,K=4096",
         # a thread for each result is just enough at its own sizes
         ("layers/recurrent.tc", "selective_scan"): "B=16,T=256,C=4096,S=16"}


def run(*words):
    return subprocess.run(words, capture_output=True, text=True)


def give_up(code, text):
    print(f"bench/static.py: {text}", file=sys.stderr)
    sys.exit(code)


# ---- the emitted text ------------------------------------------------------------------------------------------------------

TOKEN = re.compile(r"0x[0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?\w*|\w+|&&|\|\||<<=|>>=|<<|>>|[-+*/%<>=!&|^]=|\+\+|--|\S")
BYTES = {"float": 4, "double": 8, "int": 4, "uint": 4, "unsigned": 4, "int64_t": 8, "uint64_t": 8, "longlong": 8, "ulonglong": 8,
         "heddle_float16": 2, "heddle_bfloat16": 2, "short": 2, "ushort": 2, "int16_t": 2, "uint16_t": 2, "char": 1, "uchar": 1,
         "int8_t": 1, "uint8_t": 1, "bool": 1}
INTEGERS = {"int", "unsigned", "int64_t", "uint64_t", "size_t", "int32_t", "uint32_t", "long"}
PRECEDENCE = {"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8,
              "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}


def divide(a, b):
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATIONS = {
    "||": lambda a, b: int(bool(a) or bool(b)), "&&": lambda a, b: int(bool(a) and bool(b)), "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b, "&": lambda a, b: a & b, "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b), "<=": lambda a, b: int(a <= b), ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b, "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": divide, "%": lambda a, b: a - b * divide(a, b)}
CALLS = {"heddle_min": min, "heddle_max": max, "heddle_floor_div": lambda a, b: a // b, "heddle_floor_mod": lambda a, b: a % b}


class Unknown(Exception):
    """What is not known before the kernel runs."""


def each(function, *values):
    """The function of integers, lane by lane: a list has one for each lane, an int is the same in all."""
    lanes = next((len(v) for v in values if isinstance(v, list)), 0)
    if not lanes:
        return function(*values)
    return [function(*row) for row in zip(*(v if isinstance(v, list) else [v] * lanes for v in values))]


class Expression:
    """An integer expression of C, evaluated while it is read."""

    def __init__(self, tokens, names):
        self.tokens, self.names, self.at = tokens, names, 0

    def value(self):
        result = self.choice()
        if self.at != len(self.tokens):
            raise Unknown
        return result

    def next(self):
        self.at += 1
        if self.at > len(self.tokens):
            raise Unknown
        return self.tokens[self.at - 1]

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def choice(self):
        condition = self.binary(1)
        if self.peek() != "?":
            return condition
        self.next()
        first = self.choice()
        if self.next() != ":":
            raise Unknown
        return each(lambda c, a, b: a if c else b, condition, first, self.choice())

    def binary(self, least):
        left = self.unary()
        while PRECEDENCE.get(self.peek(), 0) >= least:
            operator = self.next()
            left = each(OPERATIONS[operator], left, self.binary(PRECEDENCE[operator] + 1))
        return left

    def unary(self):
        token = self.next()
        if token == "-":
            return each(lambda a: -a, self.unary())
        if token == "!":
            return each(lambda a: int(not a), self.unary())
        if token == "(":
            if self.peek() in INTEGERS:
                while self.next() != ")":
                    pass
                return self.unary()
            inside = self.choice()
            if self.next() != ")":
                raise Unknown
            return inside
        if token in CALLS:
            if self.next() != "(":
                raise Unknown
            first = self.choice()
            if self.next() != ",":
                raise Unknown
            second = self.choice()
            if self.next() != ")":
                raise Unknown
            return each(CALLS[token], first, second)
        if token in ("blockIdx", "threadIdx") and self.peek() == "." and self.peek(1) == "x":
            self.at += 2
            token += ".x"
        if token[0].isdigit():
            digits = token.rstrip("uUlL")
            return int(digits, 0) if digits.isdigit() or digits.startswith("0x") else self.unknown()
        known = self.names.get(token)
        return known if known is not None else self.unknown()

    @staticmethod
    def unknown():
        raise Unknown


def closing(tokens, at):
    """The position of what closes the bracket at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i] in "([{") - (tokens[i] in ")]}")
        if depth == 0:
            return i
    raise Unknown


def subscripted(tokens):
    """The tokens with `heddle_at(A + 8, at)` written as `A[8 + (at)]`."""
    result, at = [], 0
    while at < len(tokens):
        if tokens[at] != "heddle_at":
            result.append(tokens[at])
            at += 1
            continue
        end, comma = closing(tokens, at + 1), tokens.index(",", at)
        base, offset = tokens[at + 2:comma], tokens[comma + 1:end]
        result += [base[0], "[", *(["0"] if len(base) == 1 else base[2:]), "+", "(", *offset, ")", "]"]
        at = end + 1
    return result


# spans: for each lane the bytes that it touches, from and to; None for a lane that does not take part
Access = collections.namedtuple("Access", "buffer shared store width spans block")


class Walk:
    """One walk over a kernel's text, for the lanes of the first warp."""

    def __init__(self, parameters, body, lanes, turn):
        self.buffers = {}  # name -> bytes of an element, in shared memory, extents
        self.names = {"threadIdx.x": list(range(lanes)), "blockIdx.x": 0}
        self.lanes, self.turn, self.accesses, self.left_out, self.blocks = lanes, turn, [], 0, 0
        for parameter in parameters.split(","):
            found = re.match(r"\s*(?:const )?(?:unsigned )?(\w+) \*(?:__restrict__ )?(\w+)\s*$", parameter)
            if found:
                self.buffers[found[2]] = (BYTES.get(found[1], 0), False, ())
        text = re.sub(r"//[^\n]*|^\s*#[^\n]*", "", body, flags=re.M)
        self.statements(subscripted(TOKEN.findall(text)), None)

    def evaluate(self, tokens):
        try:
            return Expression(tokens, self.names).value()
        except (Unknown, ValueError, IndexError):
            return None

    def statements(self, tokens, mask):
        names, block, at = dict(self.names), self.blocks, 0
        self.blocks += 1
        while at < len(tokens):
            at = self.statement(tokens, at, mask, block)
        self.names = names

    def body(self, tokens, at, mask, block):
        """A block, or one statement; past it."""
        if tokens[at] != "{":
            return self.statement(tokens, at, mask, block)
        end = closing(tokens, at)
        self.statements(tokens[at + 1:end], mask)
        return end + 1

    def skip(self, tokens, at):
        """Past a statement that is not walked."""
        if tokens[at] == "{":
            return closing(tokens, at) + 1
        if tokens[at] == "if":
            at = self.skip(tokens, closing(tokens, at + 1) + 1)
            return self.skip(tokens, at + 1) if at < len(tokens) and tokens[at] == "else" else at
        return tokens.index(";", at) + 1

    def statement(self, tokens, at, mask, block):
        token = tokens[at]
        if token == "{":
            return self.body(tokens, at, mask, block)
        if token == "if":
            return self.condition(tokens, at, mask, block)
        if token == "for":
            return self.loop(tokens, at, mask, block)
        end = at
        while tokens[end] != ";":
            end = closing(tokens, end) + 1 if tokens[end] in "([{" else end + 1
        self.simple(tokens[at:end], mask, block)
        return end + 1

    def condition(self, tokens, at, mask, block):
        end = closing(tokens, at + 1)
        self.touch(tokens[at + 2:end], mask, block, False)
        value = self.evaluate(tokens[at + 2:end])
        masks = mask, mask
        if isinstance(value, list):
            now = mask or [1] * self.lanes
            masks = [int(m and bool(v)) for m, v in zip(now, value)], [int(m and not v) for m, v in zip(now, value)]
        at = self.body(tokens, end + 1, masks[0], block)
        if at < len(tokens) and tokens[at] == "else":
            # the same in all lanes: interior blocks go one way, those at an edge the other
            at = self.skip(tokens, at + 1) if isinstance(value, int) else self.body(tokens, at + 1, masks[1], block)
        return at

    def loop(self, tokens, at, mask, block):
        end = closing(tokens, at + 1)
        head = tokens[at + 2:end]
        first, second = (i for i, t in enumerate(head) if t == ";")
        variable = head[head.index("=") - 1]
        begin, limit = self.evaluate(head[head.index("=") + 1:first]), self.evaluate(head[first + 3:second])
        names = self.names
        self.names = dict(names)
        value = begin
        if begin is not None and self.turn and limit is not None:
            value = each(lambda b, l: b + 1 if b + 1 < l else b, begin, limit)
        self.names[variable] = value
        at = self.body(tokens, end + 1, mask, block)
        self.names = names
        return at

    def simple(self, tokens, mask, block):
        if tokens[0] == "__shared__":
            name = next(i for i, t in enumerate(tokens) if t == "[") - 1
            extents = [int(t) for t, before in zip(tokens[name + 2:], tokens[name + 1:]) if before == "["]
            self.buffers[tokens[name]] = (BYTES.get(tokens[name - 1], 0), True, extents)
            return
        self.touch(tokens, mask, block, True)
        if tokens[0] == "const" and "=" in tokens[:5] and "*" not in tokens[:tokens.index("=")]:
            equals = tokens.index("=")
            integer = tokens[1] in INTEGERS
            self.names[tokens[equals - 1]] = self.evaluate(tokens[equals + 1:]) if integer else None

    def touch(self, tokens, mask, block, whole):
        """Note the accesses of a statement, or of a condition."""
        for i, token in enumerate(tokens):
            if token not in self.buffers or i + 1 == len(tokens) or tokens[i + 1] != "[":
                continue
            element, shared, extents = self.buffers[token]
            subscripts, end = [], i + 1
            while end < len(tokens) and tokens[end] == "[":
                last = closing(tokens, end)
                subscripts.append(tokens[end + 1:last])
                end = last + 1
            width, first = element, i
            if i >= 2 and tokens[i - 1] == "&" and tokens[i - 2] == "(" and "reinterpret_cast" in tokens[max(0, i - 14):i]:
                first = i - 1 - tokens[i - 1::-1].index("reinterpret_cast")
                vector = next(t for t in tokens[first + 1:i] if t not in ("<", "const"))
                found = re.match(r"([a-z]+)([234])$", vector)
                if vector == "heddle_vector":  # < type , members >
                    comma = tokens.index(",", first)
                    found = [vector, tokens[comma - 1], tokens[comma + 1]]
                width = BYTES.get(found[1], 0) * int(found[2]) if found else 0
                end, first = end + 1, first - 1
            store = whole and first == 0 and end < len(tokens) and tokens[end] in ("=", "+=", "-=", "*=", "|=", "&=")
            self.note(token, shared, store, element, width, extents, subscripts, mask, block)
            if store and tokens[end] != "=":
                self.note(token, shared, False, element, width, extents, subscripts, mask, block)

    def note(self, name, shared, store, element, width, extents, subscripts, mask, block):
        offset = 0
        for i, subscript in enumerate(subscripts):
            value = self.evaluate(subscript)
            if value is None or not element or not width:
                self.left_out += 1
                return
            below = 1
            for extent in extents[i + 1:]:
                below *= extent
            offset = each(lambda a, b, n=below: a + b * n, offset, value)
        offset = offset if isinstance(offset, list) else [offset] * self.lanes
        spans = [(o * element, o * element + width) if on else None for o, on in zip(offset, mask or [1] * self.lanes)]
        if any(spans):
            self.accesses.append(Access(name, shared, store, width, spans, block))


def merged(spans):
    """Runs of bytes that lie side by side."""
    runs = []
    for begin, end in sorted(spans):
        if runs and begin <= runs[-1][1]:
            runs[-1][1] = max(runs[-1][1], end)
        else:
            runs.append([begin, end])
    return runs


def narrow(accesses, rows, width):
    """Of the accesses of one walk: (tensor, is a store, bytes) of those that could be wider; how many are contiguous in all."""
    groups = collections.defaultdict(list)
    for a in accesses:
        if not a.shared and rows.get(a.buffer, 1) % WIDE == 0:
            groups[a.buffer, a.store, a.width, a.block].append(a)
    contiguous, found = 0, collections.Counter()
    for (name, store, bytes_each, _), group in groups.items():
        if any(b % WIDE or e % WIDE for b, e in merged([s for a in group for s in a.spans if s])):
            continue
        contiguous += len(group)
        if bytes_each < WIDE and width["store" if store else "load"] < WIDE:
            found[name, store, bytes_each] += len(group)
    return found, contiguous


def bank_cycles(access):
    """Cycles that the access takes, and the fewest for its words."""
    part = BANKS * BANK_WIDTH // max(access.width, BANK_WIDTH)
    cycles = fewest = 0
    for at in range(0, len(access.spans), part):
        words = {w for span in access.spans[at:at + part] if span for w in range(span[0] // BANK_WIDTH, (span[1] - 1) // BANK_WIDTH + 1)}
        cycles += max(collections.Counter(w % BANKS for w in words).values(), default=0)
        fewest += (len(words) + BANKS - 1) // BANKS
    return cycles, fewest


KERNEL = re.compile(r"__global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(([^)]*)\)\n\{\n(.*?)\n\}\n", re.S)


ASKED = 128  # bytes of global memory that a thread has asked for, on average of the time


def is_enough(descriptor, threads):
    """Do so many threads keep the chip's memory busy?"""
    memory = descriptor["memory"]["global"]
    return "latency" not in memory or threads * ASKED >= 2 * memory["bandwidth"]["value"] * memory["latency"]["value"]


def read_text(source, manifest, kernels, launches, descriptor):
    """What the text of each launched kernel says: accesses left out, contiguous ones, narrow ones, conflicts."""
    rows = {}  # tensor -> bytes of a row
    for a in manifest["arguments"]:
        extent = str(a["shape"][-1]) if a.get("shape") else ""
        if extent.isdigit():
            rows[a["name"]] = int(extent) * (int(re.sub(r"\D", "", a["type"]) or 8) // 8)
    threads = {launch["kernel"]: int(launch["block"][0]) for launch in launches}
    grid = {launch["kernel"]: threads[launch["kernel"]] * math.prod(int(n) for n in launch["grid"]) for launch in launches}
    for name, parameters, body in KERNEL.findall(source):
        if name not in threads:
            continue
        k = kernels[name]
        lanes = min(manifest["warp"], threads[name])
        least = {way: min(k[f"global_{way}s"], default=WIDE) for way in ("load", "store")}
        walks = [Walk(parameters, body, lanes, turn) for turn in (0, 1)]
        (found, contiguous), (again, _) = (narrow(walk.accesses, rows, least) for walk in walks)
        shared, conflicts = [a for walk in walks for a in walk.accesses if a.shared], {}
        for a in shared:
            cycles, fewest = bank_cycles(a)
            if cycles > fewest:
                key = f"{a.buffer} {'store' if a.store else 'load'}"
                conflicts[key] = max(round(cycles / fewest, 2), conflicts.get(key, 0))
        k.update(left_out=walks[0].left_out, contiguous=contiguous, shared_accesses=len(shared) // 2, conflicts=conflicts,
                 narrow=[{"tensor": t, "access": "store" if s else "load", "bytes": b, "count": n,
                          "few": not is_enough(descriptor, grid[name] * b / WIDE)}
                         for (t, s, b), n in sorted((found & again).items())])


# ---- instructions ------------------------------------------------------------------------------------------------------------

SASS_SPACES = {"LDG": "global_loads", "STG": "global_stores", "LDS": "shared_loads", "STS": "shared_stores"}
SASS_WIDTHS = {"128": 16, "64": 8, "U16": 2, "S16": 2, "U8": 1, "S8": 1, "256": 32}
AMD_WIDTHS = {"dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16, "b8": 1, "b16": 2, "b32": 4, "b64": 8, "b96": 12, "b128": 16,
              "u8": 1, "i8": 1, "u16": 2, "i16": 2, "ubyte": 1, "sbyte": 1, "byte": 1, "ushort": 2, "sshort": 2, "short": 2}


def sass_access(operation):
    words = operation.split(".")
    return SASS_SPACES.get(words[0]), next((SASS_WIDTHS[w] for w in words if w in SASS_WIDTHS), 4)


def ptx_access(operation):
    words = operation.split(".")
    if words[0] not in ("ld", "st") or len(words) < 3 or words[1] not in ("global", "shared"):
        return None, 0
    count = next((int(w[1:]) for w in words if re.match(r"v\d$", w)), 1)
    return f"{words[1]}_{'load' if words[0] == 'ld' else 'store'}s", count * int(re.sub(r"\D", "", words[-1]) or 32) // 8


def amd_access(operation):
    found = re.match(r"(global|flat|ds)_(load|store|read|write)(2|2st64|_2addr|_2addr_stride64)?_(.*)", operation)
    if not found:
        return None, 0
    space = "shared" if found[1] == "ds" else "global"
    way = "load" if found[2] in ("load", "read") else "store"
    return f"{space}_{way}s", next((AMD_WIDTHS[w] for w in found[4].split("_") if w in AMD_WIDTHS), 4)


def is_fma(operation):
    return bool(re.match(r"FFMA|DFMA|[HID]MMA|HGMMA|fma\.|mma\.|wgmma\.|v_(pk_|dual_)?fma|v_mfma|v_wmma", operation))


def read_sass(text):
    """kernel -> [(address, operation, address that it branches to)]"""
    kernels, now = {}, []
    for line in text.splitlines():
        function = re.match(r"\s*Function : (\w+)", line)
        if function:
            now = kernels.setdefault(function[1], [])
        found = re.match(r"\s*/\*([0-9a-f]+)\*/\s+(?:@!?\w+ )?\s*([A-Z0-9_.]+)\s*([^;]*);", line)
        if found and found[2] != "NOP":
            target = re.search(r"0x([0-9a-f]+)\s*$", found[3]) if found[2].startswith("BRA") else None
            now.append((int(found[1], 16), found[2], int(target[1], 16) if target else None))
    return kernels


def read_amd(text):
    kernels, now, start = {}, [], 0
    for line in text.splitlines():
        function = re.match(r"([0-9a-f]+) <(\w+)>:", line)
        if function:
            start, now = int(function[1], 16), kernels.setdefault(function[2], [])
        found = re.match(r"\s+(\w+)[^/]*// ([0-9A-F]+):[^<]*(?:<\w+\+0x([0-9a-f]+)>)?", line)
        if found and found[1] not in ("s_nop", "s_delay_alu", "s_code_end"):
            target = start + int(found[3], 16) if found[3] and "branch" in found[1] else None
            pair = line.partition("::")[2].split()
            now.append((int(found[2], 16), found[1], target))
            if pair or found[1].startswith("v_pk_fma"):
                now.append((int(found[2], 16), pair[0] if pair else found[1], None))
    return kernels


def read_ptx(text):
    kernels = {}
    for name, body in re.findall(r"\.entry (\w+)\(.*?\n\{\n(.*?)\n\}\n", text, re.S):
        labels, found, at = {}, [], 0
        for line in body.splitlines():
            label = re.match(r"(\$\w+):", line)
            operation = re.match(r"\s+(?:@!?%\w+ )?\s*([a-z]\w*(?:\.\w+)*)\s*([^;]*);", line)
            if label:
                labels[label[1]] = at
            elif operation:
                found.append((at, operation[1], operation[2].strip() if operation[1].startswith("bra") else None))
                at += 1
        kernels[name] = [(a, o, labels.get(t)) for a, o, t in found]
    return kernels


def inner_loop(instructions):
    """The instructions of the innermost loop that has most FMA: from where a later branch goes to the last one that goes there."""
    last = {}
    for address, _, target in instructions:
        if target is not None and target <= address:
            last[target] = max(address, last.get(target, 0))
    bodies = [[i for i in instructions if begin <= i[0] <= end] for begin, end in last.items()
              if not any(begin < other <= end and last[other] <= end for other in last)]
    return max(bodies, key=lambda body: sum(is_fma(o) for _, o, _ in body), default=[])


def count_instructions(instructions, access):
    widths = {f"{space}_{way}s": collections.Counter() for space in ("global", "shared") for way in ("load", "store")}
    for _, operation, _ in instructions:
        kind, width = access(operation)
        if kind:
            widths[kind][width] += 1
    loop = inner_loop(instructions)
    fma = sum(is_fma(o) for _, o, _ in loop)
    inside = collections.Counter(w for kind, w in (access(o) for _, o, _ in loop) if kind == "shared_loads")
    return {**{kind: dict(sorted(w.items())) for kind, w in widths.items()}, "instructions": len(instructions),
            "loop_instructions": len(loop), "loop_fma": fma, "loop_shared_loads": dict(sorted(inside.items()))}


# ---- compilers ---------------------------------------------------------------------------------------------------------------


class Cuda:
    def __init__(self):
        home = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")
        self.nvcc, self.dump = (shutil.which(p) or shutil.which(p, path=home) for p in ("nvcc", "cuobjdump"))
        self.missing = None if self.nvcc else "nvcc of the CUDA toolkit is not there"
        self.read = "cuobjdump -sass" if self.dump else "PTX (no disassembler: cuobjdump is not there)"
        self.version = self.nvcc and run(self.nvcc, "--version").stdout.strip().splitlines()[-1]

    def compile(self, source, manifest, arch, work):
        cubin, options = os.path.join(work, "kernel.cubin"), manifest["options"]["nvrtc"]
        words = [self.nvcc, f"-arch={arch}", "-DHEDDLE_DEVICE_ONLY", *options, source]
        done = run(*words, "-cubin", "-Xptxas", "-v", "-o", cubin)
        if done.returncode:
            return None, done.stderr
        kernels = {}
        for text in done.stderr.split("Compiling entry function '")[1:]:
            numbers = [[int(n) for n in re.findall(rf"(\d+) {words_}", text)] for words_ in
                       ("bytes stack frame", "bytes spill stores", "bytes spill loads", "registers", "bytes smem")]
            stack, stores, loads, registers, shared = numbers
            kernels[text.split("'")[0]] = {"registers": max(registers), "spills": max(sum(stores), sum(loads)), "stack": max(stack),
                                           "shared": max(shared, default=0)}
        if self.dump:
            done, read, access = run(self.dump, "-sass", cubin), read_sass, sass_access
            text = done.stdout
        else:
            ptx = os.path.join(work, "kernel.ptx")
            done, read, access = run(*words, "-ptx", "-o", ptx), read_ptx, ptx_access
            with open(ptx) as f:
                text = f.read()
        for name, instructions in read(text).items():
            if name in kernels:
                kernels[name].update(count_instructions(instructions, access))
        return kernels, ""


class Hip:
    """The line of backends/hip/compile.c: its header in place of ROCm's, AMD's device libraries."""

    FOLDERS = ["$ROCM_PATH/amdgcn/bitcode", "/opt/rocm/amdgcn/bitcode", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
               "/usr/lib/aarch64-linux-gnu/amdgcn/bitcode", "/usr/lib64/amdgcn/bitcode"]
    LIBRARIES = ["ocml", "ockl", "oclc_daz_opt_off", "oclc_unsafe_math_off", "oclc_finite_only_off", "oclc_correctly_rounded_sqrt_on",
                 "oclc_abi_version_500"]
    NEAR = [("gfx94", "942"), ("gfx94", "940"), ("gfx95", "950"), ("gfx95", "940"), ("gfx90", "900"), ("gfx12", "1201"),
            ("gfx12", "1030"), ("gfx11", "1100"), ("gfx11", "1030"), ("gfx10", "1030")]
    HEADERS = ["hip_runtime", "hip_fp16", "hip_bf16", "hip_bfloat16", "hip_vector_types", "hip_complex"]

    def __init__(self):
        folders = [os.path.expandvars(f) for f in self.FOLDERS]
        self.folder = next((f for f in folders if os.path.exists(f"{f}/ocml.bc")), None)
        self.number = next((n for n in range(22, 16, -1) if shutil.which(f"clang-{n}")), None)
        tools = [f"{p}-{self.number}" for p in ("clang", "ld.lld", "llvm-objdump", "llvm-readelf")]
        self.clang, _, self.dump, self.readelf = tools
        lacking = ["clang 17 or newer"] if not self.number else [t for t in tools if not shutil.which(t)]
        lacking += [] if self.folder else ["AMD's device libraries (ocml.bc)"]
        self.missing = ", ".join(lacking) + " not there" if lacking else None
        self.read = f"{self.dump} -d"
        self.version = None if lacking else run(self.clang, "--version").stdout.splitlines()[0]

    def library(self, arch):
        near = [arch[3:], *(isa for begin, isa in self.NEAR if arch.startswith(begin))]
        return next((p for p in (f"{self.folder}/oclc_isa_version_{isa}.bc" for isa in near) if os.path.exists(p)), None)

    def compile(self, source, manifest, arch, work):
        library = self.library(arch)
        if not library:
            return None, f"no device library for {arch}"
        include = os.path.join(work, "include")
        if not os.path.isdir(include):
            os.makedirs(f"{include}/hip")
            shutil.copy("backends/hip/clang_shim.h", f"{include}/heddle_clang_shim.h")
            for header in self.HEADERS:
                with open(f"{include}/hip/{header}.h", "w") as f:
                    f.write('#include "heddle_clang_shim.h"\n')
        both = re.match(r"gfx1\w{3}$", arch)
        wide = "on" if not both or manifest["warp"] == 64 else "off"
        linked = [*(f"{self.folder}/{l}.bc" for l in self.LIBRARIES), f"{self.folder}/oclc_wavefrontsize64_{wide}.bc", library]
        code = os.path.join(work, "kernel.co")
        words = [self.clang, "-x", "hip", f"--offload-arch={arch}", "--offload-device-only", "--no-gpu-bundle-output", "-nogpulib",
                 "-nogpuinc", "-O3", "-std=c++17", "-D__HIPCC_RTC__=1", "-D__HIP_PLATFORM_AMD__=1", f"-I{include}", "-include",
                 "heddle_clang_shim.h", *manifest["options"]["hipcc"], *(["-mwavefrontsize64"] if both and wide == "on" else [])]
        for path in linked:
            words += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", path]
        done = run(*words, "-Rpass-analysis=kernel-resource-usage", source, "-o", code)
        if done.returncode:
            return None, done.stderr
        waves = dict(re.findall(r"Function Name: (\w+).*?Occupancy \[waves/SIMD\]: (\d+)", done.stderr, flags=re.S))
        kernels = {}
        for text in re.split(r"^  - ", run(self.readelf, "--notes", code).stdout.split("amdhsa.kernels:")[-1], flags=re.M)[1:]:
            number = {key: int(value) for key, value in re.findall(r"^(?: {4})?\.(\w+): +(\d+)$", text, flags=re.M)}
            if "vgpr_count" not in number:
                continue
            name = re.search(r"^ {4}\.name: +(\w+)", text, flags=re.M)[1]
            kernels[name] = {
                "occupancy": int(waves.get(name, 0)), "registers": max(number["vgpr_count"], number.get("agpr_count", 0)), "spills": 4 * number["vgpr_spill_count"],
                "stack": number["private_segment_fixed_size"], "shared": number["group_segment_fixed_size"],
                "scalar_spills": number["sgpr_spill_count"]}
        for name, instructions in read_amd(run(self.dump, "-d", code).stdout).items():
            if name in kernels:
                kernels[name].update(count_instructions(instructions, amd_access))
        return kernels, ""


# ---- registers and resident blocks -----------------------------------------------------------------------------------------------


def resident_blocks(chip, k, threads):
    """Blocks at once by the compiler's registers or its own word, by the rules of CUDA's cuda_occupancy.h and LLVM's AMDGPU usage."""
    def limit(key, otherwise=0):
        return int(chip[key]["value"]) if key in chip else otherwise

    def rounded(n, unit):
        return -(-n // unit) * unit

    warp, schedulers = limit("warp"), limit("schedulers", 1)
    warps = -(-threads // warp)
    each = rounded(max(k["registers"], 1), limit("register_granularity", 1)) * warp
    slots = k.get("occupancy") or limit("registers_per_unit") // schedulers // each
    fits = [limit("blocks_per_unit"), limit("threads_per_unit") // (warps * warp), slots * schedulers // warps]
    if k["shared"]:
        fits.append(limit("shared_per_unit") // rounded(k["shared"] + limit("shared_reserved"), limit("shared_granularity", 1)))
    return max(min(fits), 1)


def predictions(path, definition, target, sizes):
    """kernel -> (registers, resident blocks) of the model."""
    done = run(heddle, "plan", path, "--def", definition, "-t", target, "--json", *(["-s", sizes] if sizes else []))
    rows = json.loads(done.stdout)["plans"][0]["rows"] if done.returncode == 0 else {}
    found = {}
    for key, value in rows.items():
        if key.endswith(" model: registers"):
            name = key.split()[0]
            found[name] = round(value), round(rows[f"{name} model: occupancy"]["blocks_per_unit"])
    return found


def is_near(k):
    return abs(k["predicted_registers"] - k["registers"]) <= max(8, 0.15 * k["registers"])


# ---- the table ---------------------------------------------------------------------------------------------------------------


def sizes_of(path):
    """definition -> [(key, sizes)] of its `#: bench` line, else of its first `#: sizes` line."""
    result, lines = {}, {}
    with open(path) as f:
        for line in f:
            pragma, definition = re.match(r"#: (bench|sizes)\b(.*)", line), re.match(r"def (\w+)", line)
            if pragma:
                lines.setdefault(pragma[1], ",".join(pragma[2].split()))
            if definition:
                key = "bench" if "bench" in lines else "sizes"
                result[definition[1]] = [(key, lines.get(key, "")), *([("large", LARGE[path, definition[1]])] if (path, definition[1]) in LARGE else [])]
                lines = {}
    return result


def widths(counts):
    return " ".join(f"{width}:{n}" for width, n in sorted(counts.items(), reverse=True)) or "-"


# of the text of a variant for bases that are not aligned, which is not read
NOTHING = {"left_out": 0, "contiguous": 0, "shared_accesses": 0, "conflicts": {}, "narrow": []}


def resources(k):
    words = [f"spills {k['spills']} B"] if k["spills"] else []
    words += [f"stack {k['stack']} B{', calls the library sine' if k['sine'] else ''}"] if k["stack"] else []
    return ", ".join(words)


def narrow_of(k, few):
    return ", ".join(f"{n['tensor']} {n['access']} {n['bytes']} B" for n in k["narrow"] if n["few"] == few)


def conflicts_of(k):
    return ", ".join(f"{what} {degree:g} times" for what, degree in k["conflicts"].items())


def against(k):
    return "" if k["fallback"] else f" for {k['predicted_registers']:3}, {k['resident']:2} blocks for {k['predicted_resident']:2}"


def line_of(k):
    share = f"{k['loop_fma'] / k['loop_instructions'] * 100:3.0f} %" if k["loop_fma"] else "  -"
    narrow_ones, few = narrow_of(k, False), narrow_of(k, True)
    marks = [resources(k), narrow_ones and "narrow: " + narrow_ones, few and "too few threads: " + few, k["conflicts"] and "banks: " + conflicts_of(k)]
    return (f"{k['target']:13} {k['file'][:-3]:17} {k['kernel']:30} {k['sizes']:6}{'u' if k['fallback'] else ' '} {k['registers']:3} regs"
            f"{against(k):26}"
            f"{k['shared']:6} B shared, loads {widths(k['global_loads']):12} stores {widths(k['global_stores']):12} shared loads "
            f"{widths(k['shared_loads']):14} stores {widths(k['shared_stores']):12} FMA {share}  {'; '.join(m for m in marks if m)}".rstrip())


def descriptor_of(target):
    done = run(heddle, "arch", "show", target.split(":")[-1], "--json")
    found = json.loads(done.stdout)["descriptor"] if done.returncode == 0 else {}
    return found


def tabulate(path, definition, target, key, sizes, work):
    """Rows of one definition's kernels, or what stood in the way."""
    out = os.path.join(work, "out")
    shutil.rmtree(out, ignore_errors=True)
    os.mkdir(out)
    done = run(heddle, "emit", path, "--def", definition, "-t", target, "-o", out, *(["-s", sizes] if sizes else []))
    if done.returncode:
        return [], done.stderr.strip().splitlines()[0]
    with open(glob.glob(f"{out}/*.json")[0]) as f:
        manifest = json.load(f)
    source = os.path.join(out, manifest["source"])
    kernels, why = compilers[target.split(":")[0]].compile(source, manifest, chips[target], work)
    if kernels is None:
        return [], why.strip().splitlines()[0] if why.strip() else "the compiler fails"
    launches = (manifest.get("variants") or [manifest])[0]["launches"]
    silent = [name for name in sorted({*kernels, *(launch["kernel"] for launch in launches)}) if "instructions" not in kernels.get(name, {})]
    if silent:
        return [], f"the compiler or the disassembler says nothing of {silent[0]}"
    with open(source) as f:
        text = f.read()
    read_text(text, manifest, kernels, launches, descriptors[target])
    sine = {name for name, _, body in KERNEL.findall(text) if re.search(r"\b(sin|cos|tan|sincos)f?\(", body)}
    preferred = {launch["kernel"] for launch in launches}
    predicted = predictions(path, definition, target, sizes)
    for launch in launches:
        k = kernels[launch["kernel"]]
        if launch["kernel"] not in predicted:
            return [], f"the model says nothing of {launch['kernel']}"
        k["predicted_registers"], k["predicted_resident"] = predicted[launch["kernel"]]
        k["shared"] += int(launch["dynamic_shared_bytes"])
        k["resident"] = resident_blocks(descriptors[target], k, int(launch["block"][0]))
    return [{"target": target, "file": os.path.basename(path), "definition": definition, "kernel": name, "sizes": key,
             "fallback": name not in preferred, "sine": name in sine, **NOTHING, **k} for name, k in sorted(kernels.items())], ""


def summary_of(target, rows):
    """What the requirement asks for, of one target: printed, and returned for the JSON."""
    preferred = [k for k in rows if not k["fallback"]]

    def listed(text, found):
        """Kernels with what is bad in them, one a line."""
        print(f"  {text}" + "".join(f"\n    {name}: {what}" for name, what in found.items()))
        return found

    def name(k):
        return f"{k['file'][:-3]}/{k['kernel']}"

    read = compilers[target.split(":")[0]].read
    print(f"\n{target}: {len(rows)} kernels, {len(rows) - len(preferred)} of them for bases that are not aligned; instructions from {read}")
    bad = {name(k): resources(k) for k in rows if k["spills"] or k["stack"]}
    result = {"target": target, "read": read, "kernels": len(rows), "spills_or_stack": listed(f"spills or stack: {len(bad)} kernels", bad)}
    for key, called in (("bench", "`#: bench`"), ("large", "larger"), ("sizes", "`#: sizes`")):
        own = [k for k in preferred if k["sizes"] == key]
        found, few = ({name(k): narrow_of(k, small) for k in own if narrow_of(k, small)} for small in (False, True))
        some = sum(n["count"] for k in own for n in k["narrow"] if not n["few"])
        contiguous = sum(k["contiguous"] for k in own)
        conflicts = {name(k): conflicts_of(k) for k in own if k["conflicts"]}
        sharing = sum(k["shared_accesses"] > 0 for k in own)
        result[key] = {
            "kernels": len(own), "contiguous": contiguous, "narrow_count": some,
            "narrow": listed(f"{called} sizes: {some} of {contiguous} contiguous accesses are narrower than {WIDE} bytes, in {len(found)} of "
                             f"{len(own)} kernels", found),
            "few": listed(f"{called} sizes: others that are, because threads would be too few: in {len(few)} kernels", few),
            "sharing": sharing,
            "conflicts": listed(f"{called} sizes: conflicts of banks in {len(conflicts)} of {sharing} kernels with shared memory", conflicts)}
    far = {name(k): f"{k['registers']} registers for {k['predicted_registers']}" for k in preferred if not is_near(k)}
    other = {name(k): f"{k['resident']} blocks for {k['predicted_resident']}" for k in preferred if k["resident"] != k["predicted_resident"]}
    result["registers_near"], result["resident_equal"] = (round(1 - len(bad_) / max(len(preferred), 1), 4) for bad_ in (far, other))
    result["registers_far"] = listed(f"registers within max(8, 15 %) of the model's for {result['registers_near'] * 100:.1f} % of "
                                     f"{len(preferred)} kernels, wanted 90; others", far)
    result["resident_other"] = listed(f"resident blocks equal for {result['resident_equal'] * 100:.1f} %, wanted 95; others:", other)
    result["left_out"] = sum(k["left_out"] for k in preferred)
    print(f"  accesses left out because their subscripts depend on data: {result['left_out']}")
    for k in preferred:
        if (f"layers/{k['file']}", k["definition"]) == GEMM and k["loop_instructions"]:
            share, loads = k["loop_fma"] / k["loop_instructions"], k["loop_shared_loads"]
            result.setdefault("gemm", {})[k["sizes"]] = {"fma": round(share, 4), "shared_loads": loads}
            print(f"  {k['kernel']} at {k['sizes']} sizes: {k['loop_fma']} of {k['loop_instructions']} instructions of its inner loop are FMA: "
                  f"{share * 100:.1f} %, wanted {FMA_WANTED * 100:.0f}; its shared loads: {widths(loads)}")
    return result


compilers = {"cuda": Cuda(), "hip": Hip()}
chips, descriptors, left_out = {}, {}, []
for target in targets:
    backend, descriptors[target] = target.split(":")[0], descriptor_of(target)
    chip, arch = descriptors[target].get("name"), descriptors[target].get("compile_arch")
    if backend not in compilers or ":" not in target or not chip:
        give_up(2, f"{target} is not a chip of cuda or hip: see heddle arch list")
    why = compilers[backend].missing or (None if arch else "its descriptor names no compile_arch")
    if why and named:
        give_up(4, f"{target}: {why}")
    if why:
        left_out.append(f"{target} is left out: {why}")
    else:
        chips[target] = arch
if not chips:
    give_up(4, "; ".join(left_out))

began, work = time.monotonic(), tempfile.mkdtemp()
rows, failed = [], []
try:
    for path in sorted(glob.glob("layers/*.tc")):
        chosen = [(definition, key, sizes) for definition, own in sizes_of(path).items() for key, sizes in own
                  if only in f"{os.path.basename(path)} {definition}"]
        for definition, key, sizes in chosen:
            for target in chips:
                found, why = tabulate(path, definition, target, key, sizes, work)
                for k in found:
                    print(line_of(k), flush=True)
                rows += found
                if why:
                    failed.append({"target": target, "file": os.path.basename(path), "definition": definition, "why": why})
                    print(f"{target:13} {os.path.basename(path)} {definition}: not compiled: {why}", flush=True)
finally:
    shutil.rmtree(work)
if not rows and not failed:
    give_up(2, f"no definition of layers/ has {only} in its name")
summary = [summary_of(target, [k for k in rows if k["target"] == target]) for target in chips]
for text in left_out:
    print(text)

tools = {backend: compilers[backend].version for backend in sorted({t.split(":")[0] for t in chips})}
with open(output, "w") as f:
    head = {"schema": "heddle.bench.static/1", "date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}", "tools": tools,
            "seconds": round(time.monotonic() - began), "summary": summary, "failed": failed}
    # a kernel a line; what is 0 or empty is left out
    f.write(json.dumps(head, indent=1)[:-2] + ',\n "kernels": [\n')
    f.write(",\n".join("  " + json.dumps({key: value for key, value in k.items() if value}, separators=(",", ":")) for k in rows) + "\n ]\n}\n")
print(f"written to {output}")
sys.exit(1 if failed else 0)
