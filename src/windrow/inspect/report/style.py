"""The frame of the page and its style sheet, for light and dark screens."""

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="generator" content="windrow report">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Windrow report</title>
<style>
:root {{ {light} --page:#f4f6f8; --good:#12805c; --bad:#b8324a; --shade:#0003; }}
@media (prefers-color-scheme: dark) {{
  :root {{ {dark} --page:#0f1317; --good:#4cc79a; --bad:#f0798c; --shade:#000b; }}
}}
* {{ box-sizing: border-box; }}
body {{ margin: 0 auto; max-width: 1320px; padding: 28px 24px 60px; background: var(--page); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif; }}
h1 {{ margin: 0; font-size: 28px; letter-spacing: -.01em; }}
h2 {{ margin: 0 0 6px; font-size: 17px; }}
h3 {{ margin: 14px 0 4px; font-size: 15px; }}
header p, section p, figcaption {{ margin: 8px 0 10px; color: var(--muted); }}
figcaption {{ font-size: 13px; margin: 6px 0 0; }}
section, figure {{ margin: 0 0 18px; padding: 18px 20px; min-width: 0; background: var(--paper);
  border: 1px solid var(--grid); border-radius: 10px; }}
svg {{ display: block; width: 100%; height: auto; font-family: inherit; font-variant-numeric: tabular-nums; }}
svg circle:hover {{ opacity: 1; stroke: var(--ink); }}
.pictures, .pair {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 540px), 1fr)); gap: 18px; }}
.pictures {{ margin-bottom: 18px; }} .pictures figure {{ margin: 0; }}
.tiles {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 16px 0 20px; }}
.tiles div {{ padding: 12px 16px; background: var(--paper); border: 1px solid var(--grid); border-radius: 10px; }}
.tiles span, .tiles small {{ display: block; color: var(--muted); font-size: 13px; }}
.tiles b {{ display: block; font-size: 23px; line-height: 1.3; font-weight: 650; white-space: nowrap; }}
a {{ color: inherit; text-decoration-color: var(--muted); text-underline-offset: 2px; }}
.scroll {{ overflow-x: auto; background: /* a shadow at the side where the table continues */
  linear-gradient(to right, var(--paper) 30%, transparent) left / 40px 100% local,
  linear-gradient(to left, var(--paper) 30%, transparent) right / 40px 100% local,
  linear-gradient(to right, var(--shade), transparent) left / 14px 100% scroll,
  linear-gradient(to left, var(--shade), transparent) right / 14px 100% scroll;
  background-repeat: no-repeat; background-color: var(--paper); }}
.samples {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr)); gap: 4px 28px; }}
.samples article, .samples h3, .samples i {{ min-width: 0; overflow-wrap: anywhere; }}
.samples article p {{ color: var(--ink); margin: 2px 0 6px; }}
.samples i {{ font-size: 13px; }}
pre {{ margin: 0; overflow-x: auto; font-size: 13px; }}
footer {{ color: var(--muted); font-size: 13px; }}
table {{ border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }}
th, td {{ padding: 4px 10px; text-align: left; border-bottom: 1px solid var(--grid); white-space: nowrap; }}
th {{ color: var(--muted); font-weight: 500; vertical-align: bottom; }}
tbody tr:last-child td {{ border-bottom: 0; }}
.n {{ text-align: right; }}
.pair th, .pair td {{ padding: 4px 7px; font-size: 13px; }}
.sums td:last-child {{ white-space: normal; }}
i {{ color: var(--muted); font-style: normal; }}
.bar {{ display: block; width: 120px; height: 9px; border-radius: 3px; background: var(--grid); overflow: hidden; }}
.bar span {{ display: block; height: 100%; }}
.note {{ padding: 10px 16px; border-left: 4px solid var(--series1); background: var(--paper); border-radius: 4px; }}
@media (max-width: 600px) {{
  body {{ padding: 16px 10px 40px; }} section, figure {{ padding: 14px 12px; }} .bar {{ width: 60px; }}
  .tiles {{ grid-template-columns: repeat(2, 1fr); }} .tiles b {{ font-size: 20px; }}
  th, td {{ padding: 4px 6px; }} figure {{ overflow-x: auto; }} figure svg {{ min-width: 480px; }}
  .scroll :is(th, td):first-child {{ position: sticky; left: 0; background: var(--paper); }}
}}
.good {{ color: var(--good); }} .bad {{ color: var(--bad); }}
</style>
{body}
"""
