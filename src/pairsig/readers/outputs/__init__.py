"""Readers of the outputs of systems, one module per format."""
