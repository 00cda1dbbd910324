"""Many systems: all pairs, a baseline, methods with several runs, ranks, and several test sets."""
