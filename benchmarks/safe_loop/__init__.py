"""The safe loop: causes injected, deadlines, phases, growth."""
