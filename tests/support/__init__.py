"""What tests, fuzzers and benchmarks share: oracles, random generators, tokenizers, models, schemas."""
