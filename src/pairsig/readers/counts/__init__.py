"""Readers of counts and scores from other programs and tables, one module per format."""
