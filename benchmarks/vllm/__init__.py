"""tokamata, guidance and xgrammar inside vLLM."""
