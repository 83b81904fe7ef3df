"""An ended exchange becomes a Capture or a Failure."""

import time

import pycurl

from windrow.fetch.client import lenient, stored
from windrow.fetch.client.exchange import Ending, Exchange
from windrow.fetch.client.peers import Peers
from windrow.io import coding
from windrow.records import Capture, Failure, Reason
from windrow.units import printable

_PROXY = 97  # CURLE_PROXY: the handshake with a SOCKS proxy failed
_HTTP2_STREAM = 92  # CURLE_HTTP2_STREAM, for which pycurl has no name

# The meaning of each curl error; an error that is not listed is PROTOCOL.
REASONS: dict[int, Reason] = {
    pycurl.E_COULDNT_RESOLVE_HOST: Reason.DNS,
    pycurl.E_COULDNT_RESOLVE_PROXY: Reason.CONNECT,
    pycurl.E_COULDNT_CONNECT: Reason.CONNECT,
    _PROXY: Reason.CONNECT,
    pycurl.E_OPERATION_TIMEDOUT: Reason.TIMEOUT,
    pycurl.E_PARTIAL_FILE: Reason.DISCONNECT,
    pycurl.E_GOT_NOTHING: Reason.DISCONNECT,
    pycurl.E_SEND_ERROR: Reason.DISCONNECT,
    pycurl.E_RECV_ERROR: Reason.DISCONNECT,
    pycurl.E_HTTP2: Reason.DISCONNECT,
    _HTTP2_STREAM: Reason.DISCONNECT,
    pycurl.E_SSL_CONNECT_ERROR: Reason.TLS,
    pycurl.E_PEER_FAILED_VERIFICATION: Reason.TLS,
    pycurl.E_SSL_CERTPROBLEM: Reason.TLS,
    pycurl.E_SSL_CIPHER: Reason.TLS,
    pycurl.E_SSL_CACERT_BADFILE: Reason.TLS,
    pycurl.E_SSL_SHUTDOWN_FAILED: Reason.TLS,
    pycurl.E_SSL_CRL_BADFILE: Reason.TLS,
    pycurl.E_SSL_ISSUER_ERROR: Reason.TLS,
    pycurl.E_SSL_INVALIDCERTSTATUS: Reason.TLS,
    pycurl.E_SSL_ENGINE_INITFAILED: Reason.TLS,
    pycurl.E_USE_SSL_FAILED: Reason.TLS,
}

_TRUNCATED = {Reason.TIMEOUT: "time", Reason.DISCONNECT: "disconnect"}  # these keep the part of the body that arrived
_CONNECTION_FAILED = (pycurl.E_HTTP2, _HTTP2_STREAM, pycurl.E_RECV_ERROR)  # in HTTP/2 possibly for all of its requests

Fault = tuple[Reason, str]  # why there is no capture, and the detail


def record(exchange: Exchange, request: bytes, ending: Ending, peers: Peers) -> Capture | Failure:
    """Return the record of an ended exchange. `request` is the request as it was sent."""
    seconds = time.monotonic() - exchange.began
    code, message = ending
    header_bytes, block = sum(map(len, exchange.lines)), stored.final(exchange.lines)
    head = stored.read(block)
    fault = _flaw(exchange, block, head, header_bytes) or (_broken(exchange, code, message) if code else None)
    task, peer, size = exchange.task, exchange.peer, header_bytes + exchange.body_bytes
    if fault is not None or head is None or peer is None:
        reason, detail = fault or (Reason.PROTOCOL if exchange.body_bytes else Reason.DISCONNECT, "no complete header")
        if exchange.fetch.http2 and code in _CONNECTION_FAILED:
            peers.distrust(task.url.host)  # libcurl may keep the connection, and the next page would fail on it too
        if code and message.startswith(lenient.REFUSED) and not exchange.fetch.proxy:
            peers.read_leniently(task.url.host)
        return Failure(
            task=task,
            reason=reason,
            detail=printable(detail[:200]),
            time=round(exchange.stamp + seconds, 3),
            seconds=round(seconds, 3),
            downloaded=size,
        )
    if head.ambiguous:
        peers.distrust(task.url.host)
    before = exchange.before()
    body, truncated, encoded = _decoded(exchange, head, code)
    raw = b""
    if exchange.fetch.raw_bodies:
        wire = b"".join(exchange.chunks)
        raw, kept = b"" if wire == body else wire, stored.rewrite(head, len(wire), keep_coding=True)
    else:
        kept = stored.rewrite(head, len(body))
    return Capture(
        task=task,
        status=head.status,
        request=request,
        head=kept,
        body=body,
        time=round(exchange.stamp + before, 3),
        seconds=round(seconds - before, 3),
        ip=peer.ip,
        protocol=head.protocol,
        cipher=peers.cipher(task.url.host, peer.ip, exchange.cipher) if task.url.text[4] == "s" else "",
        truncated=truncated,
        downloaded=size,
        encoded=encoded,
        raw=raw,
    )


def _flaw(exchange: Exchange, block: bytes, head: stored.ResponseHead | None, header_bytes: int) -> Fault | None:
    """Return why we do not accept the answer, even if it is complete."""
    if exchange.refused is not None:
        return exchange.refused
    if header_bytes > exchange.fetch.max_header:
        return Reason.PROTOCOL, f"more than {exchange.fetch.max_header} bytes of header"
    if block.count(b"\n") > stored.MOST_FIELDS + 2:
        return Reason.PROTOCOL, f"more than {stored.MOST_FIELDS} header fields"
    if head is not None and head.status == 407 and exchange.fetch.proxy:
        return Reason.CONNECT, "the proxy wants a user and a password; see fetch.proxy_login_file"
    if head is None and block:
        return Reason.PROTOCOL, f"no status line; the answer begins with {block[:40]!r}"
    return None


def _broken(exchange: Exchange, code: int, message: str) -> Fault | None:
    """Return why nothing is kept of an exchange that failed. A header with some body is kept."""
    reason = REASONS.get(code, Reason.PROTOCOL)
    if exchange.full or (exchange.body_bytes and reason in _TRUNCATED):
        return None
    return reason, message or f"curl error {code}"


def _decoded(exchange: Exchange, head: stored.ResponseHead, code: int) -> tuple[bytes, str, bool]:
    """Return the body to store, why it is cut, and whether it is still encoded.

    A body that cannot be decoded is kept as it arrived.
    """
    wire = exchange.chunks[0] if len(exchange.chunks) == 1 else b"".join(exchange.chunks)
    truncated = "length" if exchange.full else _TRUNCATED[REASONS[code]] if code else ""
    if not head.encodings:
        return wire, truncated, False
    body, complete, cut = coding.decode(wire, head.encodings, exchange.fetch.max_decoded)
    if complete or (truncated and body):
        return body, truncated or "length" * cut, False
    return wire, truncated, True
