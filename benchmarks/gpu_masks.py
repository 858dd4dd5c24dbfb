"""Masks over logits on a GPU: how long they take, and how much memory beside the logits.

    python benchmarks/gpu_masks.py --markdown benchmarks/results/gpu_masks.md

Masks are random bits in the host's memory, as ``fill_masks`` leaves them, so each time includes their copy
to the device.  Times are those between two CUDA events around one call; memory is what PyTorch's allocator
held at its peak, less what it held before.

What is compared:

- ``tokamata``: ``apply_mask``.
- ``int32 per token``: whole words shifted by 0 to 31, as ``apply_mask`` did until version 0.1.
- ``32 strided fills``: one ``masked_fill_`` for each bit of a word; no memory, many kernels.
- ``xgrammar``: its ``apply_token_bitmask_inplace_triton``, where it can be imported.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from timing import summarize

from tokamata.masks import apply_mask

WIDTHS = {"Llama 3.1": 128_256, "Gemma 3": 262_145}
ROWS = (1, 16, 64, 256)
DTYPES = (torch.float32, torch.bfloat16)
RUNS, WARM_UP = 200, 10
HEADER = (
    "| vocabulary | dtype | rows | method | median, µs | p99, µs | extra memory, MiB |\n"
    "|---|---|--:|---|--:|--:|--:|"
)

Method = Callable[[torch.Tensor, Any], None]


def int32_per_token(logits: torch.Tensor, mask: Any) -> None:
    """What the peak of memory is compared with."""
    words = torch.from_numpy(np.array(mask)).to(logits.device)
    shifts = torch.arange(32, dtype=torch.int32, device=words.device)
    disallowed = (((words.unsqueeze(-1) >> shifts) & 1) == 0).flatten(-2)
    logits.masked_fill_(disallowed[:, : logits.shape[-1]], float("-inf"))


def strided_fills(logits: torch.Tensor, mask: Any) -> None:
    """One view of the logits for each bit."""
    words = ~torch.from_numpy(np.array(mask)).to(logits.device)
    for bit in range(32):
        part = logits[:, bit::32]
        part.masked_fill_(((words >> bit) & 1).bool()[:, : part.shape[-1]], float("-inf"))


def methods() -> dict[str, Method]:
    """What can be run here."""
    found: dict[str, Method] = {
        "tokamata": apply_mask,
        "int32 per token": int32_per_token,
        "32 strided fills": strided_fills,
    }
    try:
        from xgrammar.kernels.apply_token_bitmask_inplace_triton import apply_token_bitmask_inplace_triton
    except ImportError as error:
        print(f"without xgrammar: {error}")
        return found

    def by_xgrammar(logits: torch.Tensor, mask: Any) -> None:
        words = torch.from_numpy(mask).pin_memory().to(logits.device, non_blocking=True)
        apply_token_bitmask_inplace_triton(logits, words)

    return {**found, "xgrammar": by_xgrammar}


def measured(method: Method, logits: torch.Tensor, mask: Any) -> tuple[list[float], int]:
    """The times of the runs in nanoseconds, and the extra memory in bytes."""
    times = []
    for _ in range(WARM_UP):
        method(logits, mask)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    for _ in range(RUNS):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        method(logits, mask)
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e6)
    return times, torch.cuda.max_memory_allocated() - before


def lines() -> Iterator[str]:
    """The rows of the table."""
    random = np.random.default_rng(0)
    for name, width in WIDTHS.items():
        words = -(-width // 32)
        mask = random.integers(-(2**31), 2**31, (max(ROWS), words), dtype=np.int64).astype(np.int32)
        for dtype in DTYPES:
            for rows in ROWS:
                logits = torch.randn(rows, width, device="cuda").to(dtype)
                expected = logits.cpu()
                apply_mask(expected, mask[:rows])  # on the CPU, by numpy
                for label, method in methods().items():
                    result = logits.clone()
                    method(result, mask[:rows])
                    if not torch.equal(result.cpu(), expected):
                        raise SystemExit(f"{label} is wrong for {rows} rows of {name} in {dtype}")
                    times, extra = measured(method, result, mask[:rows])
                    summary = summarize(times)
                    assert summary is not None
                    yield (
                        f"| {name} | {str(dtype).removeprefix('torch.')} | {rows} | {label} "
                        f"| {summary.median_us:.0f} | {summary.p99_us:.0f} | {extra / 2**20:.1f} |"
                    )


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("there is no CUDA device here")
    head = f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}, {RUNS} runs each.\n\n{HEADER}"
    print(head)
    table = []
    for line in lines():
        print(line, flush=True)
        table.append(line)
    if arguments.markdown:
        text = "\n".join([f"# Masks on a GPU\n\n{head}", *table]) + "\n"
        arguments.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
