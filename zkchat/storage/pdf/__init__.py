"""The text of PDF files: extracted in a process of its own, and kept by the digest of the file."""
