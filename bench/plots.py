#!/usr/bin/env python3
"""Draws what redis.py, ycsb.py and nvmove/compare.py measured, from their raw results alone.

usage: plots.py [--out DIR] [JSON...]

Of each file one picture for each part: shares of the server without persistence, median of the rounds with
the least and the largest, a panel for each pipeline; seconds of a restart. Without files: what build/bench
has. Pictures are PNG, beside the file or in --out; their names are printed.

Needs Debian's python3-matplotlib. Exit status: 0 drawn, 1 not.
"""
import argparse
import json
import os
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Told apart in grey and by people who see few colours: what has a pool is filled, what has not is hatched.
LOOKS = {
    "none again": ("#ffffff", ""), "RDB each second": ("#ffffff", "..."), "AOF everysec": ("#ffffff", "///"),
    "AOF always": ("#ffffff", "xxx"),
    "shadow, power": ("#08519c", ""), "shadow, process": ("#6baed6", ""), "undo, power": ("#a63603", ""),
    "undo, process": ("#fd8d3c", ""), "shadow, power, command": ("#08519c", "++"),
    "undo, process, command": ("#fd8d3c", "++"), "shadow, disk": ("#238b45", ""),
    "shadow, disk, 1 s": ("#74c476", ""),
    # Emulated memory: one colour for each, by model; solid where the server was moved.
    "pcm, worst": ("#fdd0a2", "///"), "pcm, cached": ("#fdd0a2", "..."), "pcm, moved": ("#d94801", ""),
    "sttram, worst": ("#c6dbef", "///"), "sttram, cached": ("#c6dbef", "..."),
    "sttram, moved": ("#2171b5", ""),
}


class NotDrawn(Exception):
    """Why."""


def shares(seen):
    """Of each configuration: median, least, largest share of the rounds."""
    made = {}
    for name, rounds in seen.items():
        if name != "none":
            each = [r["rate"] / base["rate"] for r, base in zip(rounds, seen["none"])]
            made[name] = (statistics.median(each), min(each), max(each))
    return made


def panel(axes, measured, title):
    """`measured`: load -> configuration -> (median, least, largest)."""
    names = [name for name in LOOKS if any(name in each for each in measured.values())]
    width = 0.85 / max(1, len(names))
    for place, name in enumerate(names):
        colour, hatch = LOOKS[name]
        at, heights, low, high = [], [], [], []
        for n, each in enumerate(measured.values()):
            if name in each:
                median, least, largest = each[name]
                at.append(n + (place - (len(names) - 1) / 2) * width)
                heights.append(median)
                low.append(median - least)
                high.append(largest - median)
        axes.bar(at, heights, width, color=colour, hatch=hatch, edgecolor="black", linewidth=0.6,
                 yerr=(low, high), error_kw={"linewidth": 0.8}, label=name)
    axes.axhline(1, color="black", linewidth=0.8, linestyle="--")
    axes.set_xticks(range(len(measured)), list(measured))
    axes.set_ylabel("share of Redis in memory")
    axes.set_ylim(bottom=0)
    axes.set_title(title, loc="left", fontsize=10)


def draw_shares(plot, panels, note, path):
    figure, axes = plot.subplots(len(panels), 1, figsize=(10, 3.4 * len(panels)), squeeze=False)
    for (title, measured), each in zip(panels.items(), axes[:, 0]):
        panel(each, measured, title)
    axes[0, 0].legend(fontsize=8, ncols=3, loc="lower right", bbox_to_anchor=(1, 1), frameon=False)
    figure.text(0.01, 0.005, note, fontsize=7)
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    figure.savefig(path, dpi=110, pil_kwargs={"optimize": True})


def draw_restart(plot, results, note, path):
    figure, axes = plot.subplots(figsize=(8, 2.6))
    names = [r["configuration"] for r in results]
    medians = [1000 * statistics.median(r["seconds"]) for r in results]
    bars = axes.barh(names, medians, color=[LOOKS[n][0] for n in names], hatch=[LOOKS[n][1] for n in names],
                     edgecolor="black")
    axes.bar_label(bars, fmt=" %.1f ms", fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(f"ms from the start to the first answer, {results[0]['keys']} keys")
    axes.margins(x=0.15)
    figure.text(0.01, 0.01, note, fontsize=7)
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    figure.savefig(path, dpi=110, pil_kwargs={"optimize": True})


def merged(results, part, title, group):
    """Panels of shares: title -> load -> configuration."""
    panels = {}
    for result in results:
        if result["part"] == part:
            load = panels.setdefault(title(result), {}).setdefault(group(result), {})
            load.update(shares(result["seen"]))
    return panels


def draw(plot, path, folder):
    """The pictures made of a file."""
    with open(path) as f:
        measured = json.load(f)
    results = measured["results"]
    os.makedirs(folder or ".", exist_ok=True)
    note = f"{measured['machine']}, {measured['processors']} processors, commit {measured['commit'][:10]}"
    base = os.path.join(folder or os.path.dirname(path), os.path.splitext(os.path.basename(path))[0])
    made = []
    for part, title, group in (
            ("throughput", lambda r: f"redis-benchmark, pipeline {r['pipeline']}", lambda r: r["load"]),
            ("benchmark", lambda r: "redis-benchmark, a command at a time", lambda r: r["load"]),
            ("ycsb", lambda r: "YCSB", lambda r: r.get("mix") or f"reads to updates {r['load']}")):
        panels = merged(results, part, title, group)
        if panels:
            made.append(f"{base}-{part}.png")
            draw_shares(plot, panels, note, made[-1])
    restarts = [r for r in results if r["part"] == "restart"]
    if restarts:
        made.append(f"{base}-restart.png")
        draw_restart(plot, restarts, note, made[-1])
    if not made:
        raise NotDrawn(f"{path} has no results")
    return made


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("json", nargs="*")
    p.add_argument("--out")
    a = p.parse_args()
    known = [os.path.join(ROOT, "build", "bench", name) for name in ("redis.json", "ycsb.json")]
    files = a.json or [path for path in known if os.path.exists(path)]
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
        if not files:
            raise NotDrawn("nothing was measured yet: make bench-redis")
        for path in files:
            print("\n".join(draw(pyplot, path, a.out)))
    except ImportError:
        print("matplotlib is not there: scripts/setup --bench installs Debian's for /usr/bin/python3",
              file=sys.stderr)
        return 1
    except (NotDrawn, OSError, ValueError, KeyError) as e:
        print(f"not drawn: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
