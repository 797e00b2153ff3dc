"""One page of what papers.py measured: HTML, and PDF where Debian's weasyprint is there."""
import html
import os
import shutil
import subprocess
import time

import charts
from experiments import MISSING, PAPERS

STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
h1 { font-size: 1.7em } h2 { margin-top: 2.2em; border-bottom: 2px solid #888 } h3 { margin: 1.8em 0 .3em }
table { border-collapse: collapse; margin: .6em 0 } th, td { padding: .2em .7em; border: 1px solid #ccc }
th { background: #f2f2f2; text-align: left } td { vertical-align: top } tr { break-inside: avoid }
td:first-child { min-width: 11em } td.figure { text-align: right; white-space: nowrap }
td.ours, th.ours { background: #eaf4ea } p { margin: .4em 0 } code { font-size: .88em; word-break: break-all }
svg { max-width: 100%; height: auto } .small { color: #555; font-size: .9em } .fault { color: #a00 }
@page { size: A4; margin: 15mm }
"""


def text(value):
    return html.escape(str(value), quote=False)


def figure(value):
    if isinstance(value, float):
        return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else text(value)


def is_ours(column, quoted):
    """Columns that no quoted row has are measured here."""
    return not any(column in figures for figures in quoted.values())


def table(run):
    rows, experiment = run.rows(), run.experiment
    columns = [c for c in experiment.columns if any(c in figures for figures in rows.values())]
    if not columns:
        return
    if experiment.axis:
        yield charts.svg(rows, columns, lambda c: is_ours(c, experiment.quoted), experiment.axis)
    kinds = {c: " ours" if is_ours(c, experiment.quoted) else "" for c in columns}
    heads = "".join(f'<th class="{kinds[c]}">{text(c)}</th>' for c in columns)
    yield f"<table><tr><th></th>{heads}</tr>"
    for label, figures in rows.items():
        cells = "".join(f'<td class="figure{kinds[c]}">{figure(figures.get(c, ""))}</td>' for c in columns)
        yield f"<tr><td>{text(label)}</td>{cells}</tr>"
    yield "</table>"


def section(run, folder):
    experiment = run.experiment
    yield f'<h3 id="{experiment.key}">{text(experiment.item)}</h3><p>{text(experiment.asks)}</p>'
    yield from table(run)
    yield f"<p>{text(experiment.differs)}</p>"
    if run.fault:
        yield f'<p class="fault">Not measured: {text(run.fault)}</p>'
    elif not run.before:
        why = "it was not asked for." if run.command else "a quick run leaves it out."
        yield f'<p class="small">Not measured: {why}</p>'
    else:
        shown = " ".join(os.path.relpath(w) if w.startswith("/") else w for w in run.before["command"])
        raw = os.path.relpath(run.raw, folder)
        yield (f'<p class="small">{run.seconds:.0f} s{text(run.stamp())}; raw results: '
               f'<a href="{raw}">{text(raw)}</a>; <code>{text(shown)}</code></p>')


def page(runs, folder, machine, commit, is_quick):
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>nvmove and three papers</title>'
    yield f"<style>{STYLE}</style></head><body><h1>nvmove beside three papers</h1>"
    yield (f"<p>Each table and figure of the papers with its counterpart of nvmove. Figures with a green "
           f"ground were measured here: {text(machine)}; commit {text(commit)}; {time.strftime('%Y-%m-%d')}. "
           f"All others are quoted.</p>")
    if is_quick:
        yield ("<p><b>This was a quick run:</b> one round each, small data, and not all experiments. Its "
               "figures show that the experiments work. They are no results.</p>")
    yield ("<p>This machine has no persistent memory. A cache line that is flushed and fenced reaches DRAM. "
           "So absolute times of the papers and ours say little about each other; ratios within one column "
           "say more.</p>")
    for paper, title in PAPERS.items():
        yield f"<h2>{text(title)}</h2>"
        for run in runs:
            if run.experiment.paper == paper:
                yield from section(run, folder)
        missing = [m for m in MISSING if m.paper == paper]
        if missing:
            yield "<h3>Without a counterpart</h3><table><tr><th>what</th><th>why</th></tr>"
            yield from (f"<tr><td>{text(m.item)}</td><td>{text(m.why)}</td></tr>" for m in missing)
            yield "</table>"
    yield "</body></html>"


def write(runs, folder, machine, commit, is_quick):
    """Writes the report; yields its paths."""
    path, pdf = (os.path.join(folder, f"report.{kind}") for kind in ("html", "pdf"))
    with open(path, "w") as f:
        f.write("\n".join(page(runs, folder, machine, commit, is_quick)) + "\n")
    yield path
    if shutil.which("weasyprint"):
        subprocess.run(["weasyprint", "-q", path, pdf], check=True)
        yield pdf
    else:
        print("no PDF: install weasyprint")
