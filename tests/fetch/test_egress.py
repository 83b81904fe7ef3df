"""A complete crawl in a network of its own, in which servers listen on public and private addresses.

The crawl never connects to the private ones. The network is a namespace of the kernel with only a loopback device, so
that a server can listen on addresses that look public, and no connection can leave this machine.
"""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests import crashing

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = "93.184.215.14"
PRIVATE = (
    "127.0.0.1",
    "10.0.0.5",
    "172.16.0.5",
    "192.168.0.5",
    "169.254.169.254",
    "100.100.100.200",
    "168.63.129.16",
    "0.0.0.0",
)
NAMED = {
    f"n{number}.test": ip
    for number, ip in enumerate((*PRIVATE, "::1", "::ffff:10.0.0.5", "64:ff9b::a00:5", "fd00:ec2::254"))
}
LITERAL = (
    *(
        "http://127.0.0.1/l",
        "http://2130706433/l",
        "http://0x7f.1/l",
        "http://017700000001/l",
        "http://127.1/l",
        "http://10.0.0.5/l",
    ),
    *("http://[::1]/l", "http://[::ffff:7f00:1]/l", "http://169.254.169.254/latest/meta-data/"),
)
MOVED = ("http://127.0.0.1/moved", "http://10.0.0.5/moved", "http://n1.test/moved", "http://[::ffff:10.0.0.5]/moved")

OPTIONS = """
[identity]
contact = "https://example.org/bot"
[fetch]
hosts_file = "hosts"
delay = 0
ip_delay = 0
backoff = 0.01
max_backoff = 0.02
[extract]
extractor = "paragraphs"
[frontier]
yield_threshold = "off"
[scope]
homepages = false
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}

# Runs inside the network: sets the addresses, starts a server on all of them that records its connections, and crawls.
INSIDE = """
    import asyncio, json, subprocess, sys
    from pathlib import Path

    directory, public, private, moved = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for address in (public, *private):
        if address not in ("127.0.0.1", "0.0.0.0"):
            subprocess.run(["ip", "addr", "add", address + "/32", "dev", "lo"], check=True)
    connections = []

    async def connected(reader, writer):
        address = writer.get_extra_info("sockname")[0]
        path = (await reader.readuntil(b"\\r\\n\\r\\n")).split(b" ")[1].decode()
        connections.append([address, path])
        head, body = "200 OK\\r\\nContent-Type: text/html", (directory / "page.html").read_bytes()
        if path == "/robots.txt":
            head, body = "404 Not Found", b""
        elif path.startswith("/go"):
            head, body = "302 Found\\r\\nLocation: " + moved[int(path[3:])], b""
        elif path == "/.well-known/tdmrep.json":
            head, body = "302 Found\\r\\nLocation: http://10.0.0.5/tdmrep.json", b""
        head = f"HTTP/1.1 {head}\\r\\nContent-Length: {len(body)}\\r\\nConnection: close\\r\\n\\r\\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    async def main():
        servers = [await asyncio.start_server(connected, address, 80) for address in ("0.0.0.0", "::1")]
        command = [sys.executable, "-m", "windrow.cli", "crawl", str(directory)]
        crawl = await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE)
        _, err = await crawl.communicate()
        outcome = {"code": crawl.returncode, "err": err.decode(), "connections": connections}
        (directory / "connections.json").write_text(json.dumps(outcome))

    asyncio.run(main())
"""


def isolated() -> bool:
    """Return whether this machine can create a network namespace."""
    tools = shutil.which("unshare") and shutil.which("ip")
    return (
        bool(tools)
        and os.geteuid() == 0
        and subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode == 0
    )


@pytest.mark.skipif(not isolated(), reason="needs root, unshare -n and ip: a network namespace of its own")
def test_a_crawl_never_connects_to_a_private_address(tmp_path: Path) -> None:
    links = [
        *LITERAL,
        *(f"http://{name}/n" for name in NAMED),
        *(f"http://pub.test/go{number}" for number in range(len(MOVED))),
    ]
    (tmp_path / "page.html").write_text("<title>Links</title>" + "".join(f'<a href="{link}">x</a>' for link in links))
    hosts = {"pub.test": PUBLIC, **NAMED}
    (tmp_path / "hosts").write_text("".join(f"{name} {ip}\n" for name, ip in hosts.items()))
    (tmp_path / "seeds.txt").write_text("http://pub.test/\nhttp://127.0.0.1/seed\n")
    (tmp_path / "crawl.toml").write_text(OPTIONS)
    given = [str(tmp_path), PUBLIC, json.dumps(PRIVATE), json.dumps(MOVED)]
    command = ["unshare", "-n", sys.executable, "-c", textwrap.dedent(INSIDE), *given]
    subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, check=True, timeout=200)
    found = json.loads((tmp_path / "connections.json").read_text())
    assert found["code"] == 0, found["err"]
    paths = {path for _, path in found["connections"]}
    assert {"/", *(f"/go{number}" for number in range(len(MOVED)))} <= paths, "the public host was crawled"
    assert {address for address, _ in found["connections"]} == {PUBLIC}
    for name in NAMED:
        assert "blocked-address" in crashing.run(["why", str(tmp_path), f"http://{name}/n"]).out, name
