"""Questions about the vault itself, such as which notes changed this week: understood without a model, and answered."""
