"""The counts of all systems, tests as values, random draws, and the products of both on which every test is built."""
