"""Tests and intervals for two systems."""
