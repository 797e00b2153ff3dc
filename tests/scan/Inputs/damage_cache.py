"""damage_cache.py FOLDER middle|header|cut: damages every entry of a facts cache that way."""
import glob
import os
import sys

entries = glob.glob(os.path.join(sys.argv[1], "llvmcache-*"))
if not entries:
    sys.exit("no cache entries")
for path in entries:
    with open(path, "rb") as f:
        data = bytearray(f.read())
    if sys.argv[2] == "middle":
        data[len(data) * 3 // 4] ^= 0xFF
    elif sys.argv[2] == "header":
        data[:] = b"\xff" * 24 + data[24:]
    else:
        del data[len(data) // 2:]
    with open(path, "wb") as f:
        f.write(data)
