"""The stations of a crawl that requests pages: its session, and what reaches the network."""

import msgspec

from windrow import origin
from windrow.crawler.machine.network import Network, Watch
from windrow.crawler.observer import Running
from windrow.crawler.orders.takedown import TakedownFile
from windrow.crawler.session import Session
from windrow.fetch import clients
from windrow.fetch.clients import Downloader
from windrow.fetch.resolve import Resolver
from windrow.origin.soft404 import Probes


class Stations(msgspec.Struct, frozen=True):
    session: Session
    takedown: TakedownFile
    probes: Probes
    resolver: Resolver
    network: Network
    client: Downloader


def build(session: Session, crawl: Running) -> Stations:
    options = session.options
    resolver = Resolver(options.fetch, options.identity)
    return Stations(
        session=session,
        takedown=TakedownFile(session.directory, session.scope),
        probes=Probes(options, origin.SOFT_404),
        resolver=resolver,
        network=Network(options, session.clock, resolver, Watch(crawl.offline, crawl.broken)),
        client=clients.build(options),
    )
