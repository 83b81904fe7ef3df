"""Options: one frozen dataclass per section, loaded from crawl.toml.

`schema` holds every option once, with its default, its kind, its unit and its reason. `kinds` are the kinds of
values, which check and convert. `load` reads crawl.toml and --set, `dump` writes TOML, and `reference` makes the
documentation from the comments of the schema. So a new option is one field in schema.py. A stage receives its own
section, never the whole."""

from windrow.config.dump import dump as dump
from windrow.config.dump import toml as toml
from windrow.config.kinds import ConfigError as ConfigError
from windrow.config.load import load as load
from windrow.config.load import make as make
from windrow.config.load import nearest as nearest
from windrow.config.reference import Option as Option
from windrow.config.reference import default as default
from windrow.config.reference import options as options
from windrow.config.reference import reference as reference
from windrow.config.schema import NOT_TEXT as NOT_TEXT
from windrow.config.schema import Archive as Archive
from windrow.config.schema import Config as Config
from windrow.config.schema import Corpus as Corpus
from windrow.config.schema import Crawl as Crawl
from windrow.config.schema import Dedup as Dedup
from windrow.config.schema import Extract as Extract
from windrow.config.schema import Fetch as Fetch
from windrow.config.schema import Frontier as Frontier
from windrow.config.schema import Identity as Identity
from windrow.config.schema import Judge as Judge
from windrow.config.schema import Language as Language
from windrow.config.schema import Paragraphs as Paragraphs
from windrow.config.schema import Profile as Profile
from windrow.config.schema import Quality as Quality
from windrow.config.schema import Scope as Scope
from windrow.config.schema import Signals as Signals
from windrow.config.schema import Workers as Workers
