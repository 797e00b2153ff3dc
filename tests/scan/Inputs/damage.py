"""damage.py FROM TO: copies a file with one byte in its middle changed.
damage.py --every FROM COMMAND...: COMMAND must refuse, with status 2, truncations and changed bytes
spread over the whole file (it gets the damaged file's name as its last argument)."""
import subprocess
import sys
import tempfile

STEPS = 40

if sys.argv[1] != "--every":
    data = bytearray(open(sys.argv[1], "rb").read())
    data[len(data) // 2] ^= 0xFF
    open(sys.argv[2], "wb").write(data)
    sys.exit(0)

data = open(sys.argv[2], "rb").read()
bad = 0
with tempfile.NamedTemporaryFile(suffix=".nvf") as f:
    for step in range(STEPS):
        at = len(data) * step // STEPS
        for damaged in (data[:at], data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1:]):
            f.seek(0)
            f.truncate()
            f.write(damaged)
            f.flush()
            status = subprocess.run(sys.argv[3:] + [f.name], capture_output=True).returncode
            if status != 2:
                print(f"status {status}: {len(damaged)} bytes, damaged at {at}")
                bad += 1
sys.exit(1 if bad else 0)
