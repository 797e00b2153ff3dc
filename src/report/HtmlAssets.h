// The style sheet and the script of the HTML report. Both are copied into the page, so that it
// works from a mail attachment; it makes no request of any kind.
#pragma once

namespace nvmove::report {

inline constexpr const char *StyleSheet = R"css(
:root { color-scheme: light dark;
  --page: #fbfbfa; --card: #ffffff; --ink: #1c1e21; --soft: #62676e; --line: #dfe1e4;
  --code: #f4f5f6; --mark: #fff0b8; --accent: #1f5fbf;
  --high: #1a7f45; --medium: #9a6700; --low: #b3352c; }
@media (prefers-color-scheme: dark) { :root {
  --page: #15171a; --card: #1d2024; --ink: #e6e7e9; --soft: #9aa0a8; --line: #33373d;
  --code: #16181b; --mark: #4a3f12; --accent: #7fb0ff;
  --high: #5dc98a; --medium: #dfb14f; --low: #f08a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 68rem; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2.2rem 0 .6rem; }
p.question { margin: .2rem 0 1.2rem; color: var(--soft); }
code, pre, .place, .name { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, monospace; }
.stats { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .6rem; }
.stats div { background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: .5rem .75rem; } .stats b { display: block; font-size: 1.2rem; }
.stats span { color: var(--soft); font-size: .8rem; }
.tools { display: flex; gap: .5rem; margin: 1.4rem 0 .6rem; flex-wrap: wrap; }
.tools input { flex: 1 1 14rem; } .tools input, .tools button { font: inherit; color: inherit;
  padding: .3rem .6rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 6px; } .tools button { cursor: pointer; }
.row, .head { display: grid; gap: .75rem; align-items: baseline;
  grid-template-columns: 1.2rem minmax(9rem, 2fr) minmax(10rem, 3fr) 5rem 6rem; }
.head { padding: .2rem .8rem; color: var(--soft); font-size: .8rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
details.type { background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  margin-bottom: .35rem; } details.type > summary { list-style: none; cursor: pointer;
  padding: .45rem .8rem; } details.type > summary::-webkit-details-marker { display: none; }
summary::before { content: "▸"; color: var(--soft); } details[open] > summary::before {
  content: "▾"; } summary:focus-visible { outline: 2px solid var(--accent); }
.name { font-weight: 600; overflow-wrap: anywhere; } .alias { color: var(--soft);
  font-weight: 400; } .place { color: var(--soft); font-size: .85rem; overflow-wrap: anywhere; }
.high { color: var(--high); } .medium { color: var(--medium); } .low { color: var(--low); }
.chain { border-top: 1px solid var(--line); padding: .6rem .9rem .9rem; }
.chain p { margin: .2rem 0 .6rem; } ol { list-style: none; margin: 0; padding: 0 0 0 1rem;
  border-left: 2px solid var(--line); } ol li { margin: 0 0 .7rem; }
.kind { display: inline-block; min-width: 5.6rem; margin-right: .5rem; color: var(--accent);
  font-size: .78rem; text-transform: uppercase; letter-spacing: .04em; }
pre { margin: .3rem 0 0; padding: .35rem .6rem; background: var(--code); border-radius: 4px;
  overflow-x: auto; font-size: .82rem; line-height: 1.45; } pre .n { color: var(--soft);
  user-select: none; } pre .hit { background: var(--mark); display: inline-block;
  min-width: 100%; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .25rem .6rem
  .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 400; font-size: .8rem; }
@media (max-width: 40rem) { .head { display: none; } .row { grid-template-columns: 1.2rem 1fr; }
  .row > * { grid-column: 2; text-align: left; } .row::before { grid-row: 1 / 9; } }
@media print { .tools { display: none; } }
)css";

inline constexpr const char *Script = R"js(
const types = [...document.querySelectorAll("details.type")];
const filter = document.getElementById("filter");
filter.addEventListener("input", () => {
  const wanted = filter.value.toLowerCase();
  for (const t of types) t.hidden = !t.dataset.text.toLowerCase().includes(wanted);
});
const all = document.getElementById("all");
all.addEventListener("click", () => {
  const open = !types.every(t => t.open || t.hidden);
  for (const t of types) t.open = open;
  all.textContent = open ? "Close all" : "Open all";
});
addEventListener("beforeprint", () => types.forEach(t => t.open = true));
)js";

} // namespace nvmove::report
