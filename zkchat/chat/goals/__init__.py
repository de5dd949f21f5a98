"""Goals: a plan, its steps one after the other, and the check of what came of them."""
