"""exits.py STATUS COMMAND...: succeeds when COMMAND ends with exactly STATUS."""
import subprocess
import sys

wanted = int(sys.argv[1])
status = subprocess.run(sys.argv[2:], timeout=300).returncode
if status != wanted:
    sys.exit(f"exits.py: expected status {wanted}, got {status}: {' '.join(sys.argv[2:])}")
