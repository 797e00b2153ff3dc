"""A chart of one experiment's rows: bars, a group for each row; as SVG to stand in a page."""
import io

HEIGHT_OF_BAR, WIDTH, MARGIN = 0.13, 7.2, 0.9  # inches
QUOTED = ("#9a9a9a", "#bdbdbd", "#d8d8d8")
OURS = ("#2f7d4f", "#58a877", "#8fcaa5", "#c2e3cf", "#dceee3")


def coloured(columns, is_ours):
    """Greys for figures that are quoted, greens for those that were measured here."""
    used, colours = {True: 0, False: 0}, []
    for column in columns:
        ours = is_ours(column)
        palette = OURS if ours else QUOTED
        colours.append(palette[used[ours] % len(palette)])
        used[ours] += 1
    return colours


def svg(rows, columns, is_ours, axis):
    """Of the figures that are numbers; "" where matplotlib is not there or nothing is to be drawn."""
    try:
        import matplotlib
    except ImportError:
        return ""
    matplotlib.use("svg")
    from matplotlib import pyplot
    drawn = {label: [figures.get(c) if isinstance(figures.get(c), (int, float)) else None for c in columns]
             for label, figures in rows.items()}
    drawn = {label: figures for label, figures in drawn.items() if any(f is not None for f in figures)}
    if not drawn:
        return ""
    bars = len(columns)
    figure, axes = pyplot.subplots(figsize=(WIDTH, MARGIN + len(drawn) * (bars + 0.8) * HEIGHT_OF_BAR))
    for n, (column, colour) in enumerate(zip(columns, coloured(columns, is_ours))):
        at = [place * (bars + 0.8) + n for place, figures in enumerate(drawn.values())
              if figures[n] is not None]
        values = [figures[n] for figures in drawn.values() if figures[n] is not None]
        axes.barh(at, values, 0.95, color=colour, label=column)
    middle = [place * (bars + 0.8) + (bars - 1) / 2 for place in range(len(drawn))]
    axes.set_yticks(middle, list(drawn), fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(axis, fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", linewidth=0.4)
    axes.set_axisbelow(True)
    figure.legend(*axes.get_legend_handles_labels(), loc="upper center", ncol=min(bars, 4), fontsize=8,
                  frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.45 / figure.get_figheight() * (1 + bars // 5)))
    held = io.StringIO()
    figure.savefig(held, format="svg")
    pyplot.close(figure)
    return held.getvalue()[held.getvalue().index("<svg"):]
