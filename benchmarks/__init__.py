"""Programs that measure tokamata and its peers, such as `python -m benchmarks.maskbench`; see README.md."""
