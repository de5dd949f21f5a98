"""Git repositories of vaults, read without running anything that they bring along."""
