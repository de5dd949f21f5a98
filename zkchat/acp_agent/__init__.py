"""The chat as an ACP agent: the conversations of a vault in editors and apps."""
