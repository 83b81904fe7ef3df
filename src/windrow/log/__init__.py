from windrow.log.format import (
    Head as Head,
)
from windrow.log.format import (
    Mention as Mention,
)
from windrow.log.format import (
    Position as Position,
)
from windrow.log.format import (
    Tally as Tally,
)
from windrow.log.format import (
    Totals as Totals,
)
from windrow.log.format import (
    decode as decode,
)
from windrow.log.format import (
    encode as encode,
)
from windrow.log.format import (
    fold as fold,
)
from windrow.log.format import (
    frames as frames,
)
from windrow.log.format import (
    lost_frame as lost_frame,
)
from windrow.log.format import (
    mentions as mentions,
)
from windrow.log.format import (
    names as names,
)
from windrow.log.format import (
    rules as rules,
)
from windrow.log.format import (
    texts as texts,
)
