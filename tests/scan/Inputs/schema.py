"""schema.py FILE...: checks reports against schema_version 1, every key and type."""
import json
import sys

PLACE = {"file": str, "line": int, "column": int}
TYPE = {"name": str, "aliases": list, "kind": str, "file": str, "line": int, "size": int,
        "confidence": str, "why": str, "evidence": list}
STATS = {"translation_units": int, "from_cache": int, "lines": int, "functions_total": int,
         "functions_visited": int, "types_total": int, "seconds": (int, float),
         "solve_seconds": (int, float), "peak_memory_bytes": int}
TOP = {"schema_version": int, "program": str, "algorithm": str, "load": list, "save": list,
       "types": list, "skipped": list, "unresolved_calls": list, "notes": list, "stats": dict}


def check(value, shape, where):
    if set(value) != set(shape):
        sys.exit(f"{where}: keys {sorted(set(value) ^ set(shape))} are missing or unknown")
    for key, kind in shape.items():
        if not isinstance(value[key], kind):
            sys.exit(f"{where}.{key}: {value[key]!r}")


for path in sys.argv[1:]:
    with open(path) as f:
        report = json.load(f)
    check(report, TOP, path)
    assert report["schema_version"] == 1 and report["types"], path
    check(report["stats"], STATS, path + ".stats")
    for t in report["types"]:
        check(t, TYPE, path + ".types")
        assert t["kind"] in ("struct", "union") and t["confidence"] in ("high", "medium", "low")
        for step in t["evidence"]:
            check(step, {"kind": str, "text": str, **PLACE}, path + ".evidence")
            assert step["kind"] in ("load", "call", "allocation", "read", "type", "store", "root")
    for call in report["unresolved_calls"]:
        check(call, {"function": str, "why": str, **PLACE}, path + ".unresolved_calls")
    for entry in report["skipped"]:
        check(entry, {"file": str, "why": str}, path + ".skipped")
