#!/bin/sh
# A session of nine calls; three are refused, so `run` exits with 1, and anything else is a fault.
here=$(dirname "$0")
"$BIN/tool-intent" run --policy "$here/policy.yaml" --session "$here/session.jsonl"
code=$?
[ "$code" -eq 1 ] || { echo "demo: expected exit code 1 (calls were refused), got $code" >&2; exit 1; }
echo
echo "Three calls were refused and left nothing behind; the six others ran without their reasons."
