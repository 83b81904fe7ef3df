from windrow.config.schema import (
    NAMES as NAMES,
)
from windrow.config.schema import (
    NOT_TEXT as NOT_TEXT,
)
from windrow.config.schema import (
    PATHS as PATHS,
)
from windrow.config.schema import (
    PATTERNS as PATTERNS,
)
from windrow.config.schema import (
    RANGES as RANGES,
)
from windrow.config.schema import (
    REGEXES as REGEXES,
)
from windrow.config.schema import (
    SUFFIXES as SUFFIXES,
)
from windrow.config.schema import (
    Archive as Archive,
)
from windrow.config.schema import (
    Config as Config,
)
from windrow.config.schema import (
    ConfigError as ConfigError,
)
from windrow.config.schema import (
    Corpus as Corpus,
)
from windrow.config.schema import (
    Crawl as Crawl,
)
from windrow.config.schema import (
    Dedup as Dedup,
)
from windrow.config.schema import (
    Extract as Extract,
)
from windrow.config.schema import (
    Fetch as Fetch,
)
from windrow.config.schema import (
    Frontier as Frontier,
)
from windrow.config.schema import (
    Identity as Identity,
)
from windrow.config.schema import (
    Judge as Judge,
)
from windrow.config.schema import (
    Language as Language,
)
from windrow.config.schema import (
    Paragraphs as Paragraphs,
)
from windrow.config.schema import (
    Quality as Quality,
)
from windrow.config.schema import (
    Scope as Scope,
)
from windrow.config.schema import (
    Signals as Signals,
)
from windrow.config.schema import (
    Workers as Workers,
)
from windrow.config.schema import (
    Written as Written,
)
from windrow.config.schema import (
    dump as dump,
)
from windrow.config.schema import (
    load as load,
)
from windrow.config.schema import (
    make as make,
)
from windrow.config.schema import (
    reference as reference,
)
