# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results of scripts/bench as a picture: one bar per program, speed against the best peer, as SVG."""
import math
from xml.sax.saxutils import escape

ROW, LEFT, WIDTH, LOWEST, HIGHEST = 16, 330, 560, 0.125, 8.0


def speed_against_best(row, by="median_ms"):
    """(time of the best peer) / (Millrace's), and that peer's name; None where one of both is missing."""
    peers = {name: entry[by] for name, entry in row["peers"].items()
             if name != "millrace" and by in entry and not entry.get("wrong")}
    ours = row["peers"].get("millrace", {})
    if not peers or by not in ours or ours.get("wrong"):
        return None
    best = min(peers, key=peers.get)
    return peers[best] / ours[by], best


def svg(rows, title, by="median_ms"):
    bars = [(row["name"], *speed) for row in rows if (speed := speed_against_best(row, by))]
    bars.sort(key=lambda bar: -bar[1])
    height = 60 + ROW * len(bars)
    x_of = lambda ratio: LEFT + WIDTH * (math.log2(min(max(ratio, LOWEST), HIGHEST) / LOWEST) / math.log2(HIGHEST / LOWEST))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 160}" height="{height}" font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="white"/>', f'<text x="8" y="18" font-size="14">{escape(title)}</text>']
    ratio = LOWEST
    while ratio <= HIGHEST:
        x = x_of(ratio)
        out.append(f'<line x1="{x:.1f}" y1="40" x2="{x:.1f}" y2="{height - 8}" stroke="{"black" if ratio == 1 else "#ddd"}"/>'
                   f'<text x="{x:.1f}" y="36" text-anchor="middle">{ratio:g}</text>')
        ratio *= 2
    for index, (name, ratio, best) in enumerate(bars):
        y, x = 44 + ROW * index, x_of(ratio)
        color = "#2a7" if ratio >= 1 else "#c85" if ratio >= 0.9 else "#c33"
        out.append(f'<text x="{LEFT - 6}" y="{y + 11}" text-anchor="end">{escape(name)}</text>'
                   f'<rect x="{min(x, x_of(1)):.1f}" y="{y + 2}" width="{abs(x - x_of(1)):.1f}" height="{ROW - 4}" fill="{color}"/>'
                   f'<text x="{LEFT + WIDTH + 6}" y="{y + 11}">{ratio:.2f} {escape(best)}</text>')
    return "\n".join(out + ["</svg>", ""])
