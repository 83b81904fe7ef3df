"""One random number per octet, the same on every machine and in every version: hashes in tables depend on it."""

import array

import xxhash

OCTETS = array.array("Q", [xxhash.xxh3_64_intdigest(bytes([octet]), seed=7) for octet in range(256)]).tobytes()
