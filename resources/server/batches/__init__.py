"""Batches of providers: handed over whole, waited for, collected, at half the price."""
