"""Drawings of machines: a layered layout in plain Python, as SVG, and text for Graphviz."""
