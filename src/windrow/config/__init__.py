"""Options: one frozen dataclass per section, loaded from crawl.toml.

`schema` holds every option once, with its default, its kind, its unit and its reason. `kinds` are the kinds of
values, which check and convert. `load` reads crawl.toml and --set, `dump` writes TOML, `template` writes the crawl.toml
of a new crawl, `presets` are sets of options for a purpose, `reference` makes the documentation from the comments of
the schema. So a new option is one field in schema.py. A stage receives its own section, never the whole.
"""

from windrow.config.dump import dump as dump
from windrow.config.dump import toml as toml
from windrow.config.edit import edited as edited
from windrow.config.kinds import ConfigError as ConfigError
from windrow.config.kinds import Name as Name
from windrow.config.load import NamedFile as NamedFile
from windrow.config.load import change as change
from windrow.config.load import check_boundaries as check_boundaries
from windrow.config.load import live as live
from windrow.config.load import load as load
from windrow.config.load import make as make
from windrow.config.load import named_files as named_files
from windrow.config.load import nearest as nearest
from windrow.config.plugins import plugins_of as plugins_of
from windrow.config.presets import PRESETS as PRESETS
from windrow.config.reference import Option as Option
from windrow.config.reference import default as default
from windrow.config.reference import options as options
from windrow.config.reference import reference as reference
from windrow.config.schema import NOT_TEXT as NOT_TEXT
from windrow.config.schema import ArchiveOptions as ArchiveOptions
from windrow.config.schema import Config as Config
from windrow.config.schema import CorpusOptions as CorpusOptions
from windrow.config.schema import CrawlOptions as CrawlOptions
from windrow.config.schema import DedupOptions as DedupOptions
from windrow.config.schema import ExtractOptions as ExtractOptions
from windrow.config.schema import FetchOptions as FetchOptions
from windrow.config.schema import FocusOptions as FocusOptions
from windrow.config.schema import FrontierOptions as FrontierOptions
from windrow.config.schema import IdentityOptions as IdentityOptions
from windrow.config.schema import JudgeOptions as JudgeOptions
from windrow.config.schema import LanguageOptions as LanguageOptions
from windrow.config.schema import ParagraphsOptions as ParagraphsOptions
from windrow.config.schema import Profile as Profile
from windrow.config.schema import QualityOptions as QualityOptions
from windrow.config.schema import ScopeOptions as ScopeOptions
from windrow.config.schema import SignalsOptions as SignalsOptions
from windrow.config.schema import WorkersOptions as WorkersOptions
from windrow.config.template import new_file as new_file
