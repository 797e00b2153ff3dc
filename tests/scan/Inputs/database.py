"""database.py FOLDER FILE[:FLAG...]...: writes FOLDER/compile_commands.json for these sources."""
import json
import os
import sys

folder = os.path.abspath(sys.argv[1])
os.makedirs(folder, exist_ok=True)
entries = []
for argument in sys.argv[2:]:
    name, *flags = argument.split(":")
    entries.append({"directory": folder, "file": name,
                    "arguments": ["cc", *flags, "-c", name, "-o", name + ".o"]})
with open(os.path.join(folder, "compile_commands.json"), "w") as f:
    json.dump(entries, f)
