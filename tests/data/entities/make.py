"""Makes seqeval.json with seqeval (1.2.2): tags drawn at random, and the entities that it finds in them.

`python make.py` writes [scheme, tags, [[type, start, end], …]]; the scheme `lenient` is seqeval's default mode.
"""

import json
import random
from pathlib import Path

from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import BILOU, IOB1, IOB2, IOBES, Entities

SCHEMES = {"lenient": None, "IOB1": IOB1, "IOB2": IOB2, "IOBES": IOBES, "BILOU": BILOU}
PREFIXES = {"lenient": "OBIES", "IOB1": "OBI", "IOB2": "OBI", "IOBES": "OBIES", "BILOU": "OBILU"}


def main():
    rng = random.Random(41)
    rows = []
    for name, scheme in SCHEMES.items():
        for _ in range(80):
            prefixes = rng.choices(PREFIXES[name], k=rng.randint(1, 9))
            tags = [prefix if prefix == "O" else f"{prefix}-{rng.choice('XY')}" for prefix in prefixes]
            if scheme is None:
                found = [[kind, first, last + 1] for kind, first, last in get_entities(tags)]
            else:
                found = [[one.tag, one.start, one.end] for one in Entities([tags], scheme).entities[0]]
            rows.append([name, tags, found])
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    Path(__file__).with_name("seqeval.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
