"""Documents in text files and as plain values: reading, decoding and writing, without the meaning of any of them."""
