"""Tests distributed locks under injected faults: see the README for the mark and the fixture."""
