"""Turns the example of docs/internals/facts-format.md into files: its bytes and its listing.

usage: document_image.py DOCUMENT IMAGE LISTING
"""
import re
import sys

document, image, listing = sys.argv[1:]
with open(document) as f:
    text = f.read()
found = re.findall(r"^    ([0-9a-f]+): ((?:[0-9a-f]{2} )+) *\|", text, re.M)
data = b""
for offset, octets in found:
    if int(offset, 16) != len(data):
        sys.exit(f"the line at {offset} should be at {len(data):x}")
    data += bytes.fromhex(octets)
with open(image, "wb") as f:
    f.write(data)
with open(listing, "w") as f:
    f.writelines(line[4:] + "\n" for line in text.split("prints it as\n\n")[1].splitlines())
