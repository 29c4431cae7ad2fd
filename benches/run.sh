#!/usr/bin/env bash
# Every speed the README promises, in one run: library paths at 1k, 50k and 1M events, then whole
# commands beside their limits and peers. Needs about five minutes, 2 GB under target/, git and python3.
# A part alone, as how long after a release a waiter has the lease: cargo bench --bench commands -- wait
# With MK_PEER=VENV, a Python environment with memkernel-mcp 0.3.0, beside that program too; with
# MK_MKRAFT=VENV, one with memkraft 4.5.0, beside that.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --example floor
cargo bench --bench kernel -- --noplot "$@"
python3 benches/report.py target/criterion
cargo bench --bench commands
cargo bench --bench compaction
cargo bench --bench exec
python3 benches/mcp.py target/release/mk ${MK_PEER:+"$MK_PEER"}
if [ -n "${MK_PEER:-}" ]; then
  "$MK_PEER/bin/python" benches/peer.py target/release/mk
fi
