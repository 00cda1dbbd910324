"""The tables of the study: their columns, and how they are shown."""
