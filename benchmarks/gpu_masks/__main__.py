"""Masks over logits on a GPU: how long they take, and how much memory beside the logits.

    python -m benchmarks.gpu_masks --markdown benchmarks/results/gpu_masks.md

Masks are random bits in the host's memory, as ``fill_masks`` leaves them, so each time includes their copy
to the device.  Times are those between two CUDA events around one call; memory is what PyTorch's allocator
held at its peak, less what it held before.

``apply_mask`` is compared with xgrammar's ``apply_token_bitmask_inplace_triton``, where it can be imported.
"""

from __future__ import annotations

import itertools
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.common import environment
from benchmarks.common.program import parser_for, run
from benchmarks.common.report import Report, ranks
from tokamata.masks import apply_mask

WIDTHS = {"Llama 3.1": 128_256, "Gemma 3": 262_145}
ROWS = (1, 16, 64, 256)
DTYPES = (torch.float32, torch.bfloat16)
RUNS, WARM_UP = 200, 10
Method = Callable[[torch.Tensor, Any], None]


def methods() -> dict[str, Method]:
    """What can be run here."""
    found: dict[str, Method] = {"tokamata": apply_mask}
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


def rows() -> Iterator[dict[str, Any]]:
    """The rows of the table."""
    random = np.random.default_rng(0)
    for name, width in WIDTHS.items():
        words = -(-width // 32)
        mask = random.integers(-(2**31), 2**31, (max(ROWS), words), dtype=np.int64).astype(np.int32)
        for dtype, count in itertools.product(DTYPES, ROWS):
            logits = torch.randn(count, width, device="cuda").to(dtype)
            expected = logits.cpu()
            apply_mask(expected, mask[:count])  # on the CPU, by numpy
            for label, method in methods().items():
                result = logits.clone()
                method(result, mask[:count])
                if not torch.equal(result.cpu(), expected):
                    raise SystemExit(f"{label} is wrong for {count} rows of {name} in {dtype}")
                times, extra = measured(method, result, mask[:count])
                shown = {"vocabulary": name, "dtype": str(dtype).removeprefix("torch."), "rows": count}
                found = ranks(times, ("p50", "p99"))
                yield {**shown, "method": label, **found, "extra memory, MiB": extra / 2**20}


def measure(options: Namespace, work: Path) -> Report:
    """All methods."""
    if not torch.cuda.is_available():
        raise OSError("there is no CUDA device here")
    report = Report({**environment.describe(), "device": torch.cuda.get_device_name()})
    report.add(f"Masks on a GPU (µs), {RUNS} runs each", list(rows()))
    return report


if __name__ == "__main__":
    sys.exit(run(measure, parser_for(__doc__).parse_args()))
