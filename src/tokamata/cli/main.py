"""The entry point, which says what to install where the command line's packages are missing."""

from __future__ import annotations

import io
import os
import sys


def main() -> None:
    """Run the command line, in a process of its own."""
    # Read by torch's thread library when it is loaded.  Threads that wait are to sleep: where other work
    # shares the processor, spinning makes a token take seconds (measured: 1.1 tokens/s instead of 5.5).
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    _write_any_text(sys.stdout)
    try:
        _run()
    except KeyboardInterrupt:  # while modules are imported; later it is the commands' matter
        raise SystemExit(130) from None


def _write_any_text(stream: object) -> None:
    """Files and pipes get UTF-8, whatever the locale; a terminal gets what it can show."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")


def _run() -> None:
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        print(
            f"tokamata's command line needs the package {error.name!r}, which is not installed; "
            "install it with: pip install 'tokamata[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    from tokamata.cli.app import app

    app(prog_name="tokamata")


if __name__ == "__main__":
    main()
