#!/bin/sh
# A session of eleven calls; four are refused, so `run` exits with 1, and anything else is a fault.
# Then the rule that refused a deletion: its examples, and why it fired, and why not once mended. A
# call whose reason is a phrase, refused by std/anti-fluff, and the same call with a reason. Last, out
# of the ledger, what was refused, why each line of a file is there that the session changed, and a
# report.
here=$(dirname "$0")
policy="$here/policy.yaml"
rule=demo/names-what-it-deletes

fail() {
  echo "demo: $1" >&2
  exit 1
}

explained() {
  grep "^{\"id\": $1," "$here/session.jsonl" |
    "$BIN/tool-intent" explain --policy "$policy" --rule "$rule"
}

project=$(mktemp -d) || fail "no temporary folder can be made"
trap 'rm -rf "$project"' EXIT
git init --quiet "$project" || fail "git is needed: the ledger lies in the repository's own folder"
# Not the ledger of wherever this is started.
TOOL_INTENT_LEDGER="$project/.git/tool-intent"
export TOOL_INTENT_LEDGER

"$BIN/tool-intent" run --policy "$policy" --session "$here/session.jsonl" --workspace "$project"
code=$?
[ "$code" -eq 1 ] || fail "expected exit code 1 (calls were refused), got $code"
echo
echo "Four calls were refused and left nothing behind; the seven others ran without their reasons."

echo
echo "The rule by its own examples, and why it refused call 8 and let call 9 pass:"
echo
"$BIN/tool-intent" test "$policy" || fail "an example does not show what it says"
echo
refused=$(explained 8) || fail "call 8 was not explained"
echo "$refused"
echo
mended=$(explained 9) || fail "call 9 was not explained"
echo "$mended"
case $refused in *"$rule fires"*) ;; *) fail "the rule should fire on call 8" ;; esac
case $mended in *"$rule is quiet"*) ;; *) fail "the rule should be quiet about call 9" ;; esac

echo
echo "A reason that is a phrase, and the same call once it has one:"
echo
fluffy=$("$BIN/tool-intent" run --policy std/anti-fluff --session "$here/fluff.jsonl")
code=$?
echo "$fluffy"
[ "$code" -eq 1 ] || fail "expected exit code 1 (the phrase was refused), got $code"
case $fluffy in *"fluff/no-reason"*) ;; *) fail "fluff/no-reason should have refused call 1" ;; esac

echo
echo "What the ledger has kept of the refusals, and whether it is as it was written:"
echo
"$BIN/tool-intent" log --decision deny || fail "the ledger was not read"
"$BIN/tool-intent" verify || fail "the ledger is not as it was written"

echo
echo "What the session left, line by line: the call behind it, and what that call said."
echo
told=$("$BIN/tool-intent" why "$project/fees.py") || fail "nothing is known of fees.py"
echo "$told"
case $told in *"Finance asks for 1 %"*) ;; *) fail "the reason of the first line is not told" ;; esac

report=$(mktemp -d) || fail "no temporary folder can be made"
case $BIN in /*) ;; *) BIN=$PWD/$BIN ;; esac
(cd "$project" && "$BIN/tool-intent" report -o "$report/report.html") 2>/dev/null ||
  fail "no report was written"
echo
echo "The session on one page, for a browser: $report/report.html"
