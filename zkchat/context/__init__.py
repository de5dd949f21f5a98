"""What fills the model's window: counting, budgets, assembly."""
