"""The analyses that the papers have not: next test sets, training variance, documents, leaderboards and planning."""
