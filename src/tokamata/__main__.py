"""``python -m tokamata``: the command line."""

from tokamata.cli.main import main

main()
