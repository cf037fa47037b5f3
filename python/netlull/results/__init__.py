"""The result of a run: its summary and tables, the energy of its links, and the files that hold it."""
