"""The analyses that the two papers have: thresholds, sizes, domains, calibration, tests compared, and the check."""
