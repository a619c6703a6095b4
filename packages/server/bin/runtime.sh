# How node runs a member. To be sourced, with `root` set to the repository. Sets NODE_FLAGS.

# Compiled code is kept between starts: without it each start compiles every module again, and loads the compiler, which takes
# 20 MiB that the process keeps. Code that was compiled with other flags is not used.
NODE_COMPILE_CACHE=${NODE_COMPILE_CACHE:-$root/node_modules/.cache/engram}
export NODE_COMPILE_CACHE
# Of node's other variables only NODE_OPTIONS counts. These change what is trusted, which code is loaded, or what is printed,
# and an operator of etcd does not expect that.
unset NODE_TLS_REJECT_UNAUTHORIZED NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA NODE_PATH NODE_DEBUG NODE_DEBUG_NATIVE NODE_ICU_DATA
unset NODE_REDIRECT_WARNINGS NODE_PENDING_DEPRECATION NODE_PRESERVE_SYMLINKS NODE_PRESERVE_SYMLINKS_MAIN
# A young generation of a fixed 8 MiB: requests die in it. Left to itself it grows in steps, each copying what would have
# died soon: measured, that costs up to a fifth more CPU for each put. 16 MiB cost as much CPU and 16 MiB more memory.
# An old generation of 128 MiB before the first full collection is due. The live heap of a busy node is 20 to 30 MiB, and V8 let
# it grow by a fifth or less between two full collections: one for every 20,000 puts, a tenth of a put's CPU.
# One thread collects it: the helpers of a collection that takes a millisecond cost more than they save, and where the cores are
# busy the main thread waits for them. Measured on two busy cores: 2.7 instead of 5.2 ms for a collection.
# SIGUSR1 would open node's debugger, through which code can be run: tools that rotate logs send it.
NODE_FLAGS='--disable-sigusr1 --min-semi-space-size=8 --max-semi-space-size=8 --initial-old-space-size=128 --no-parallel-scavenge'
# One arena of malloc: the threads beside the main one allocate little, and each had an arena whose free pages stay
# resident, 20 MiB together.
MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX:-1}
# Buffers of 32 KiB and more have pages of their own, which are given back when they are freed: places of lists, output, pages of
# values. Otherwise malloc takes more and more of them from its arena, in which a few small pieces keep all free pages resident:
# 70 MiB behind attacks with long lists. At most 16,384 of them, a quarter of the mappings that Linux allows a process.
MALLOC_MMAP_THRESHOLD_=${MALLOC_MMAP_THRESHOLD_:-32768}
MALLOC_MMAP_MAX_=${MALLOC_MMAP_MAX_:-16384}
# A fixed threshold would leave this one at 128 KiB: the end of the arena would be given back and taken again all the time.
MALLOC_TRIM_THRESHOLD_=${MALLOC_TRIM_THRESHOLD_:-1048576}
export MALLOC_ARENA_MAX MALLOC_MMAP_THRESHOLD_ MALLOC_MMAP_MAX_ MALLOC_TRIM_THRESHOLD_
