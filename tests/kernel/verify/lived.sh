# A project in which everything happened that leaves a row. Run in an empty directory; $1 is a database
# of MemKernel.
set -euo pipefail

now=1796032800000
mk() {
  now=$((now + 1500))
  local date
  printf -v date '@%d.%03d' $((now / 1000)) $((now % 1000))
  MK_DATE=$date MK_LEASE_DATE=$date MK_SALT_SEED=${PWD##*/}$now command mk "$@"
}
# Ends well where mk answers no.
told_no() { mk "$@" || [ $? = 1 ]; }

mkdir here there
cd here
mk init
export MK_AGENT=ann
mk config gc.auto off
mk task 'log in' -c 'no cookies'
mk decide db sqlite -m 'one file' --op-id decided
mk fact port=8080 --meta '{"seen":1.5}'
mk note 'to be forgotten' --op-id forgotten
mk note 'to be kept'
mk erase 4 -m 'it was a password'
mk note "a token: ghp_$(printf 'a1B2c3D4e5F6%.0s' 1 2 3)" --op-id redacted

# Branches.
MK_AGENT=bob mk switch -c side
MK_AGENT=bob mk decide cache none -m later
MK_AGENT=bob mk fact port=9090
mk fork twig --from side --op-id forked
mk switch main
mk decide db postgres -m 'two writers'
mk note 'on main'
mk rollback HEAD~1 --op-id rolled-back
mk retract decision db --op-id retracted
mk merge side -X theirs --op-id merged

# Enough for a checkpoint.
printf '{"payload":{"note":"%d"}}\n' {1..140} | mk append --batch -q
mk decide queue none
printf '{"payload":{"note":"%d"}}\n' {1..140} | mk append --batch -q --op-id batch
mk gc --force
mk note 'after the snapshot'

# Leases: held, held by a session, renewed, given back, ended by a neighbour, in force no more.
mk lease acquire src/a.rs src/b.rs --ttl 3600 --op-id leased
MK_AGENT=bob MK_SESSION=s1 mk lease acquire docs/ --ttl 3600 --op-id leased-docs
mk note fenced --fence src/a.rs:1
mk lease acquire gone.rs && mk lease release gone.rs --token 1 --op-id released
MK_AGENT=bob mk lease acquire old/x.rs --ttl 1
mk lease acquire old/ --ttl 3600 --op-id leased-old
MK_AGENT=bob mk lease acquire lapsed.rs --ttl 1 --op-id leased-lapsed

# The execution log.
execute() {
  local request
  printf -v request '{"mkep":"0","kind":"apply","request_id":"%032x","op":"%s","now":"2026-08-04T11:00:%02dZ","target":%s,"args":%s,"precondition":{}}' \
    "$1" "$2" "$1" "$3" "$4"
  told_no exec call <<< "$request"
}
# What the reference had here before, and what it was known by.
mkdir -p .memkraft/execution
echo 'no record' > .memkraft/execution/events.jsonl
printf '%032x' 7 > .memkraft/origin_instance_id
mk exec import .
for goal in team/alpha team/beta; do
  of="\"goal_id\":\"$goal\""
  at=$((${at:-0} + 10))
  execute $((at + 1)) goal.declare "{$of}" '{"title":"t","intent":"i","constraints":[],"success_criteria":[]}'
  execute $((at + 2)) gate.declare "{$of,\"gate_id\":\"build\"}" '{"description":"d","verification":{"check_kind":"c","check_ref":"r"}}'
  execute $((at + 3)) receipt.record "{$of,\"gate_id\":\"build\"}" "{\"verdict\":\"pass\",\"content_sha256\":\"$(printf '%064d' 0)\",\"summary\":\"s\",\"observed_at\":null}"
  execute $((at + 4)) lease.acquire "{$of,\"scope_key\":\"build\"}" '{"holder":"w1","ttl_seconds":60}'
  execute $((at + 5)) lease.acquire "{$of,\"scope_key\":\"test\"}" '{"holder":"w1","ttl_seconds":60}'
  execute $((at + 6)) handoff.declare "{$of}" '{"to_actor":"bob","payload":{"note":"n"}}'
done
mk exec export out >/dev/null
# Imported: what is known, a line that is no record, and a marker that hides a record of the first goal.
hidden=$(grep -o '"id": *"[^"]*"' out/.memkraft/execution/events.jsonl | sed -n '3s/.*"\([^"]*\)"$/\1/p')
{
  echo 'nor this'
  printf '{"tombstone":true,"tombstone_of":"%s","id":"aa","goal_id":"team/alpha","event_seq":90}\n' "$hidden"
} > more.jsonl
mk exec import more.jsonl

# Notices, some of them of another peer.
mk notice post service:auth 'mind the gap' --op-id posted
mk --json sync init sync.json --folder "$2" --workspace team --peer here --agents ann > identity
there() { (cd ../there && MK_AGENT=cy mk "$@"); }
there init
there --json sync init sync.json --folder "$2" --workspace team --peer there --agents cy > ../there/identity
key() { sed 's/.*"public_key": *"\([0-9a-f]*\)".*/\1/' "$1"; }
mk sync trust there --policy sync.json --public-key "$(key ../there/identity)" --agents cy
there sync trust here --policy sync.json --public-key "$(key identity)" --agents ann
mk sync enable sync.json
there sync enable sync.json
told_no sync run
there notice post service:db 'moves today'
there notice post service:db 'moved'
there sync run
id=$(mk notice post service:web 'restarts' | grep -o 'here:[0-9a-f-]*')
mk sync run
mk notice clear "$id" --op-id cleared
mv "$2/there.json" away
told_no sync run
mv away "$2/there.json"
mk sync run

mk config agent.id ann
mk config gc.threshold 5000
mk config alias.st 'status --json'
mk switch main

# Rows of another program.
mk import memkernel "$1" --prefix old-
mk verify
