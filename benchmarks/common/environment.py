"""Where and with what figures were measured, so that they can be judged later."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

_PACKAGES = (
    "tokamata", "numpy", "llguidance", "xgrammar", "outlines-core", "glrmask", "torch", "transformers",
    "tokenizers",
)  # fmt: skip


def describe(threads: str = "one thread is used") -> dict[str, str]:
    """The date, the machine, the Python, and the version of every package that plays a part."""
    versions = []
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": f"{_processor()}, {usable} of {os.cpu_count()} cores usable; {threads}",
        "kernel": f"{platform.system()} {platform.release()}",
        "load average at the start": load,
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": ", ".join(versions),
        "commit": _commit(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    name = fields.get("model name", platform.machine())
    family = fields.get("cpu family"), fields.get("model")
    return f"{name} (family {family[0]}, model {family[1]})" if all(family) else name


def _commit() -> str:
    """The commit of the tree that this file is in, ``+`` where files of it have changed since."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        head, status = (
            subprocess.run([*git, *command], capture_output=True, text=True, check=True).stdout.strip()
            for command in (("rev-parse", "--short", "HEAD"), ("status", "--porcelain"))
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if status else "")
