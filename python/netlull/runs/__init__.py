"""The runs of many scenarios: their order, the threads and processes that simulate them, the memory limit of each."""
