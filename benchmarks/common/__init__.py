"""What the programs share: engines, processes, tokenizers, timing, reports."""
