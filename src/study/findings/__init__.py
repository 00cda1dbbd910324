"""The findings, and the parts of pages that quote numbers: templates whose numbers are cells of tables."""
