"""Readers of the logs of evaluations, one module per program; `items` is what they share."""
