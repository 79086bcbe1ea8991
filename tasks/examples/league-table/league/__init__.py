"""Standings for an amateur football league."""
