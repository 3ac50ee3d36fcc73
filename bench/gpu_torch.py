# SPDX-License-Identifier: MIT
"""What PyTorch reaches on this GPU for layers that it has too, as one JSON document: medians of single runs between two events,
queued one behind the other after a tenth of a second that is not timed, as heddle bench does.  float32 without TF32."""
import json
import statistics
import time

import torch
import torch.nn.functional as F

RUNS = 20


def seconds(run):
    end = time.monotonic() + 0.1
    while time.monotonic() < end:
        run()
        torch.cuda.synchronize()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(RUNS + 1)]
    events[0].record()
    for event in events[1:]:
        run()
        event.record()
    torch.cuda.synchronize()
    return statistics.median(a.elapsed_time(b) for a, b in zip(events, events[1:])) * 1e-3


def rand(*shape, **kind):
    return torch.rand(*shape, device="cuda", **kind) * 2 - 1


def layers():
    """(definition, sizes as heddle bench prints them, a function that runs it once)"""
    for n, d in (4096, 1024), (16384, 4096), (2048, 65536):
        x = rand(n, d)
        yield "softmax", f"N={n} D={d}", lambda: torch.softmax(x, 1)
    for n, d in (4096, 1024), (16384, 4096):
        x, g, b = rand(n, d), rand(d), rand(d)
        yield "layernorm", f"N={n} D={d}", lambda: F.layer_norm(x, (d,), g, b)
        yield "rmsnorm", f"N={n} D={d}", lambda: F.rms_norm(x, (d,), g)
    for n, d in (4096, 4096), (16384, 8192):
        x = rand(n, d)
        yield "sum_rows", f"N={n} D={d}", lambda: x.sum(1)
        yield "sum_columns", f"N={n} D={d}", lambda: x.sum(0)
    x = rand(16384, 16384)
    yield "sum_all", "N=16384 M=16384", lambda: x.sum()
    for n in 4096, 16384:
        t = rand(n, n)
        yield "transpose2d", f"N={n} M={n}", lambda: t.t().contiguous()
    for n in 1 << 24, 1 << 28:
        p, q = rand(n), rand(n)
        yield "add", f"N={n}", lambda: p + q
    x, b = rand(32768, 8192), rand(8192)
    yield "bias_relu", "N=32768 D=8192", lambda: torch.relu(x + b)
    for n, c, h, m in (32, 64, 56, 128), (64, 128, 56, 128):
        x, w = rand(n, c, h, h), rand(m, c, 3, 3)
        yield "conv2d", f"N={n} C={c} H={h} W={h} M={m}", lambda: F.conv2d(x, w, padding=1)
    x = rand(32, 64, 512, 512)
    yield "max_pool2d", "N=32 C=64 H=512 W=512", lambda: F.max_pool2d(x, 3, 2, 1)
    for b, h, t, d in (4, 16, 512, 64), (4, 32, 2048, 128):
        q, k, v = rand(b, h, t, d), rand(b, h, t, d), rand(b, h, t, d)
        yield "attention", f"B={b} H={h} T={t} D={d} S={t}", lambda: F.scaled_dot_product_attention(q, k, v, scale=1.0)
    a, y = rand(4096, 4096), rand(4096)
    yield "matvec", "M=4096 K=4096", lambda: a @ y


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    rows = []
    for definition, sizes, run in layers():
        rows.append({"definition": definition, "sizes": sizes, "seconds": seconds(run)})
    print(json.dumps({"torch": torch.__version__, "runs": RUNS, "layers": rows}, indent=1))


main()
