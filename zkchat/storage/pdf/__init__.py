"""Texts of PDFs."""
