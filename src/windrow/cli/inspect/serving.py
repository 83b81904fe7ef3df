"""`windrow demo --serve`."""

import sys
from pathlib import Path

from windrow.cli.terminal import out, print_json
from windrow.demo import serving

DIRECTORY = serving.DIRECTORY


def serve(directory: Path, as_json: bool) -> None:
    """Serve the demo web until Ctrl-C, and say how to crawl it."""
    with serving.serve(directory) as served:
        if as_json:
            print_json(served)
        else:
            out.print(f"a web of {served.hosts} hosts is served on 127.0.0.1:{served.port} until Ctrl-C")
            out.print(f"{served.hosts_file} has their names; crawl them from another terminal:")
            out.print(f"  {served.command('mycrawl')}\n  windrow crawl mycrawl")
        sys.stdout.flush()  # a program that started this one waits for these lines
        serving.wait()
