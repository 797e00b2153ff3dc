"""strict.py < LINES: succeeds when each line is JSON as the standard has it, without NaN and Infinity."""
import json
import sys


def refuse(word):
    sys.exit(f"strict.py: {word} is no JSON")


for line in sys.stdin:
    json.loads(line, parse_constant=refuse)
