#!/usr/bin/env bash
# Runs the smoke experiment on a Slurm cluster of this one machine: as an array of 4 tasks, of which
# one is killed midway and requeued. What is collected in the end must be what a plain run finds.
#
#   scripts/test_slurm.sh [PROGRAM]
#
# PROGRAM is the pgmbench to test; without it, one is built. Debian's slurm-wlm and munge are
# installed if they are missing. Everything else happens in a temporary folder, and what is started
# here is stopped by its process id.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -gt 0 ]; then
    program=$(realpath "$1")
else
    cargo build --release --quiet
    program=$(realpath "${CARGO_TARGET_DIR:-target}/release/pgmbench")
fi

export PATH=$PATH:/usr/sbin:/sbin
for tool in munged slurmctld slurmd sbatch; do
    command -v "$tool" > /dev/null && continue
    echo "$tool is missing: installing slurm-wlm and munge"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq slurm-wlm munge > /dev/null ||
        { apt-get update -qq && apt-get install -y -qq slurm-wlm munge > /dev/null; }
    break
done

folder=$(mktemp -d)
started=()
stop() {
    code=$?
    if [ "$code" -ne 0 ]; then
        tail -n 20 "$folder"/*.log "$folder"/results/smoke/slurm/*.log 2> /dev/null || true
    fi
    # Jobs first, then the daemons, the last one first.
    [ -z "${array:-}" ] || scancel "$array" 2> /dev/null || true
    [ -z "${collect:-}" ] || scancel "$collect" 2> /dev/null || true
    for ((at = ${#started[@]} - 1; at >= 0; at--)); do
        kill "${started[at]}" 2> /dev/null || true
        wait "${started[at]}" 2> /dev/null || true
    done
    rm -rf "$folder"
    exit "$code"
}
trap stop EXIT
trap 'exit 130' INT TERM
fail() { echo "error: $*" >&2; exit 1; }
# Waits until a command succeeds, a minute at most.
await() {
    what=$1
    shift
    for _ in $(seq 600); do
        "$@" > /dev/null 2>&1 && return
        sleep 0.1
    done
    fail "waited a minute in vain: $what"
}

echo "a cluster of one machine, in $folder"
chmod 755 "$folder"
mkdir "$folder/state" "$folder/spool"
user=$(id -un)
port=$((20000 + RANDOM % 20000))
cat > "$folder/slurm.conf" << CONF
ClusterName=pgmbench
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
JobRequeue=1
SlurmdParameters=config_overrides
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
NodeName=localhost NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
head -c 1024 /dev/urandom > "$folder/munge.key"
chmod 400 "$folder/munge.key"
munged --foreground --force --socket="$folder/munge.socket" --key-file="$folder/munge.key" \
    --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" \
    --seed-file="$folder/munged.seed" > "$folder/munged.log" 2>&1 &
started+=($!)
await "munged" munge --socket="$folder/munge.socket" --no-input
slurmctld -D > /dev/null 2>&1 &
started+=($!)
await "slurmctld" scontrol ping
slurmd -D -N localhost > /dev/null 2>&1 &
started+=($!)
is_idle() { sinfo --noheader --format=%T | grep -q idle; }
await "slurmd" is_idle

# Enough iterations for a task to be caught in the middle. Whether an arm is out of time depends on
# the machine, so none may be; and none has to fill a gigabyte.
sed 's/^seconds = .*/seconds = 3600/; s/^memory = .*/memory = "10 MB"/' configs/smoke.toml \
    > "$folder/smoke.toml"
experiment=("$folder/smoke.toml" --iterations 600)
"$program" slurm submit "${experiment[@]}" --tasks 4 --results "$folder/results" --dry-run \
    > "$folder/scripts.txt"
grep -q -- '--array=1-4' "$folder/scripts.txt" || fail "the dry run shows no array"
"$program" slurm submit "${experiment[@]}" --tasks 4 --results "$folder/results" --time 10
results=$folder/results/smoke
job() { sed -n "s/.*\"$1\": \"\([0-9]*\)\".*/\1/p" "$results/slurm/jobs.json"; }
array=$(job array)
collect=$(job collect)
# Not before the task that will be killed has been requeued.
scontrol hold "$collect"

state() { squeue --noheader --states=all --jobs="$1" --format=%T; }
killed=
for _ in $(seq 2400); do
    for task in 1 2 3 4; do
        file=$results/trials.$task-of-4.csv
        # A header and a row at least. The lock says which process is writing.
        if [ -s "$file" ] && [ "$(wc -l < "$file")" -gt 1 ] &&
            kill -KILL "$(cat "$results/.$task-of-4.lock")" 2> /dev/null; then
            killed=$task
            break 2
        fi
    done
    sleep 0.02
done
[ -n "$killed" ] || fail "no task could be caught in the middle"
has_failed() { [ "$(state "${array}_$killed")" = FAILED ]; }
await "the end of task $killed" has_failed
cp "$results/trials.$killed-of-4.csv" "$folder/before.csv"
echo "killed task $killed after $(($(wc -l < "$folder/before.csv") - 1)) rows; requeued"
"$program" slurm status "$results"
scontrol requeue "${array}_$killed"
# Slurm would let two minutes pass.
hurry() { scontrol update "JobId=${array}_$killed" StartTime=now; }
await "the requeue" hurry
scontrol release "$collect"

for _ in $(seq 3000); do
    case $(state "$collect") in
        COMPLETED) break ;;
        FAILED | CANCELLED | TIMEOUT) fail "the collecting job has failed" ;;
    esac
    sleep 0.1
done
[ "$(state "$collect")" = COMPLETED ] || fail "the collecting job has not ended"
"$program" slurm status "$results"

echo "the same on one machine"
"$program" run "${experiment[@]}" --results "$folder/alone" --quiet
# Rows without their times, in the order of their keys.
timeless() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /seconds/) time[i] = 1 }
        { row = ""; for (i = 1; i <= NF; i++) if (!(i in time)) row = row "," $i; print row }' "$1" |
        sort
}
diff <(timeless "$results/trials.csv") <(timeless "$folder/alone/smoke/trials.csv") ||
    fail "the numbers are different"
diff <(sort "$results/ledger.jsonl") <(sort "$folder/alone/smoke/ledger.jsonl") > /dev/null ||
    fail "the ledgers are different"
# What the killed task had finished was kept, not run again: its times are still there.
while IFS= read -r row; do
    grep -qxF -- "$row" "$results/trials.csv" || fail "a row of the killed task was lost: $row"
done < "$folder/before.csv"
for file in summary.csv figure.svg manifest.json; do
    [ -s "$results/$file" ] || fail "missing: $file"
done
[ -z "$(find "$results" -name '*-of-4.csv')" ] || fail "shards were left behind"
"$program" verify "$results" --trials 2
echo "the array and one machine agree"
