"""The frame, the styles and the script of the site."""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""

STYLE = """
:root{--ink:#1c2024;--soft:#65707b;--line:#dde2e7;--back:#fff;--head:#f4f6f8;
--red:#b3142a;--redback:#fde5e8;--blue:#1550b0;--blueback:#e3edfd;--amber:#6e5600;--amberback:#fdf4d3}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8ec;--soft:#98a3ae;--line:#333b43;--back:#14181c;--head:#1d2329;
--red:#ff98a4;--redback:#4a1a22;--blue:#9cc3ff;--blueback:#17304f;--amber:#ecd27c;--amberback:#403612}}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);margin:0 auto;padding:1rem 1.5rem 4rem;
max-width:110rem}
h1{font-size:1.4rem;line-height:1.3;margin:.6rem 0 .2rem}h2{font-size:1.1rem;margin:2rem 0 .4rem}
header p{margin:.2rem 0;color:var(--soft);overflow-wrap:anywhere}
a{color:var(--blue);text-decoration:none}a:hover{text-decoration:underline}
nav{display:flex;gap:1.2rem}nav a:last-child{margin-left:auto}
.note{color:var(--soft);font-size:.87rem;margin:.5rem 0}
.filters{display:flex;gap:1rem;flex-wrap:wrap;align-items:center;margin:.8rem 0}
select{font:inherit;color:inherit;background:var(--head);border:1px solid var(--line);border-radius:4px;padding:.15rem}
#shown{color:var(--soft)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th{text-align:left;font-weight:600;background:var(--head);position:sticky;top:0;z-index:1}
th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
th small{font-weight:400;color:var(--soft);white-space:nowrap}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.index td{white-space:nowrap}.index .title{white-space:normal;min-width:18rem;overflow-wrap:anywhere}
.index tbody tr:hover{background:var(--head)}
.texts{table-layout:fixed;margin-top:.5rem}.texts td{overflow-wrap:anywhere}
.texts td+td,.texts th+th{border-left:1px solid var(--line)}
del,ins,i{font-style:normal;text-decoration:none;border-radius:2px;-webkit-box-decoration-break:clone;
box-decoration-break:clone}
del{color:var(--red);background:var(--redback)}
ins{color:var(--blue);background:var(--blueback);text-decoration:line-through;text-decoration-thickness:1px}
i{color:var(--amber);background:var(--amberback)}
.blocks{font-size:.87rem;margin-top:.4rem}.blocks td:nth-child(2){white-space:nowrap}
.blocks td:nth-child(5){overflow-wrap:anywhere;width:60%}.path{color:var(--soft);font-family:monospace;font-size:.8rem}
tr.bad:not(.dropped) td{color:var(--soft)}
tr.dropped td{background:var(--redback)}tr.kept td{background:var(--blueback)}
#only{margin-right:.4rem}#only:checked~table tr.right{display:none}
@media (max-width:50rem){body{padding:.6rem}.texts{font-size:.85rem}}
"""

SCRIPT = """
const selects = [...document.querySelectorAll("select")];
const rows = [...document.querySelectorAll("tbody tr")];
function filter() {
  let count = 0;
  for (const row of rows) {
    row.hidden = !selects.every(one => one.value === "*" || row.dataset[one.dataset.filter] === one.value);
    count += !row.hidden;
  }
  document.getElementById("shown").textContent = count + " of " + rows.length + " pages";
}
selects.forEach(one => one.addEventListener("change", filter));
filter();
"""
