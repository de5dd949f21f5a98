"""What goes into a request: budget, selection, documents, compaction. Pure."""
