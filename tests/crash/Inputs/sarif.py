#!/usr/bin/env python3
"""Whether a file has the structure of SARIF 2.1.0 as far as `nvmove crash` uses it.

usage: sarif.py FILE
"""
import json
import sys


def need(what, holds):
    if not holds:
        sys.exit(f"sarif: {what}")


def check_location(location):
    place = location.get("physicalLocation")
    if place is None:
        return
    need("a uri", place["artifactLocation"]["uri"].startswith("file:///"))
    region = place["region"]
    need("lines and columns from 1 on", region["startLine"] >= 1 and region["startColumn"] >= 1)


def check_result(result, rules):
    need("a rule that is described", result["ruleId"] in rules)
    need("a level", result["level"] in ("error", "warning"))
    need("a message", result["message"]["text"])
    need("a count", result["occurrenceCount"] >= 1)
    for location in result.get("locations", []) + result["relatedLocations"]:
        check_location(location)
        need("a text", location["message"]["text"])


def main():
    with open(sys.argv[1]) as f:
        log = json.load(f)
    need("the version", log["version"] == "2.1.0" and "sarif-2.1.0" in log["$schema"])
    need("one run", len(log["runs"]) == 1)
    run = log["runs"][0]
    driver = run["tool"]["driver"]
    need("a name", driver["name"])
    rules = {rule["id"] for rule in driver["rules"]}
    need("each rule once", len(rules) == len(driver["rules"]))
    need("whether it went through", isinstance(run["invocations"][0]["executionSuccessful"], bool))
    need("results", run["results"])
    for result in run["results"]:
        check_result(result, rules)
    need("a place", any(result.get("locations") for result in run["results"]))


if __name__ == "__main__":
    main()
