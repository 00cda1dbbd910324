"""What several analyses share: pairs of systems, intervals over systems, expected replication rates."""
