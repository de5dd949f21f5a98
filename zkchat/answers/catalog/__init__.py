"""Questions about the vault itself, parsed and answered from the index."""
