# Sourced by Tests/run. How suites are run, and their outcomes counted. Needs $work, a folder of this run.
passed=0 failed=0 skipped=0 failures=() repeats=() absent=()
times_taken=() suite='' begun=0

# say NAME: a suite begins; the one before it has ended.
say() {
    [ -z "$suite" ] || took "$suite" $((SECONDS - begun))
    suite=$1 begun=$SECONDS
    [ -z "$1" ] || printf '\n== %s (%s)\n' "$1" "$(date +%H:%M:%S)"
}
# took SUITE SECONDS: for the report at the end.
took() { times_taken+=("$2 $1"); }

# lacks WHAT: something was not tried for want of a tool.
lacks() {
    skipped=$((skipped + 1)) absent+=("$1")
    echo "not tried: $1"
}

# check NAME COMMAND...: one test that is a command. Status 0 is passed. Status 77 is skipped as a whole; any other one is failed. A line 'skipped: WHAT: WHY' (or '-- WHAT',
# of the faults under load) is a part of it that was not tried, and is counted as well.
check() {
    local name=$1 start=$SECONDS status=0
    shift
    "$@" >"$work/output" 2>&1 || status=$?
    judge_command "$status" "$name" $((SECONDS - start))
}

# begin_check KEY COMMAND...: such a test beside others; `end_check KEY NAME` waits for it and counts it. What bounds a time does not run so.
declare -A began=() beside=()
begin_check() {
    began[$1]=$SECONDS
    "${@:2}" >"$work/check-$1" 2>&1 &
    beside[$1]=$!
}
end_check() {
    local status=0
    wait "${beside[$1]}" || status=$?
    cp "$work/check-$1" "$work/output"
    judge_command "$status" "$2" $((SECONDS - began[$1]))
}

# judge_command STATUS NAME SECONDS: counts the outcome of a command whose words are in $work/output.
judge_command() {
    local name=$2 again
    if [ "$1" = 77 ] && grep -qE '^(skipped:|--) +' "$work/output"; then
        left_out "$name"
    elif [ "$1" = 0 ]; then
        passed=$((passed + 1))
        printf 'ok    %s (%s s)\n' "$name" "$3"
        printf '%s\t%s\n' "$3" "$name" >>"$work/durations"
        while read -r again; do repeats+=("passed: $name: ${again#*tried twice: }"); done < <(grep -E '^ +tried twice: ' "$work/output")
        left_out "$name"
    else
        failed=$((failed + 1)) failures+=("$name")
        printf 'FAIL  %s\n' "$name"
        tail -n 60 "$work/output" | sed 's/^/      /'
        { printf '%s:\n' "$name"; tail -n 20 "$work/output"; } >>"$work/complaints"
    fi
}

# left_out NAME: counts what a command has said that it did not try.
left_out() {
    local line
    while read -r line; do lacks "$1: $line"; done < <(sed -nE 's/^(skipped:|--) +//p' "$work/output")
}

# execute FILE ARGUMENTS...: runs tests of the bundle that was built; what they print goes to the file, their outcomes into FILE.events. Several may run at once.
execute() {
    rm -f "$1.events"
    timeout 1200 "$BOXOFFICE_TEST_BUNDLE" --testing-library swift-testing "${@:2}" --event-stream-output-path "$1.events" --event-stream-version 0 >"$1" 2>&1
}

# swift_tests NAME ARGUMENTS...: a run of the Swift tests, counted test by test.
swift_tests() {
    local status=0
    execute "$work/output" "${@:2}" || status=$?
    judge "$status" "$@"
}

# One entry of `side_by_side`: NAME<tab>VARIABLE=VALUE or -<tab>ARGUMENT<tab>...
run_entry() {
    local name variable arguments status=0 start=$SECONDS
    IFS=$'\t' read -r name variable arguments <<<"$1"
    IFS=$'\t' read -r -a arguments <<<"$arguments"
    [ "$variable" = - ] || export "${variable?}"
    # Each of those that run at once has ports of its own; those of the cluster that scripts use are between them.
    local ranges=(10000-14400 14500-18900 22500-26700 26800-31000)
    export BOXOFFICE_TEST_PORTS=${ranges[${slot:-0}]}
    execute "$work/$name" "${arguments[@]}" || status=$?
    echo "$status $((SECONDS - start))" >"$work/$name.status"
}
export -f run_entry execute

# side_by_side COUNT ENTRY...: runs the entries, so many at once, in their order; then counts them.
side_by_side() {
    local count=$1 entry name variable arguments status seconds
    shift
    export work
    printf '%s\n' "$@" | xargs -r -d '\n' -n 1 -P "$count" --process-slot-var=slot bash -c 'run_entry "$1"' run_entry
    for entry; do
        IFS=$'\t' read -r name variable arguments <<<"$entry"
        IFS=$'\t' read -r -a arguments <<<"$arguments"
        read -r status seconds <"$work/$name.status" || { status=1 seconds=0; }
        rm -f "$work/output.events"
        cp "$work/$name" "$work/output" || true
        [ ! -f "$work/$name.events" ] || cp "$work/$name.events" "$work/output.events"
        took "  $name" "$seconds"
        if [ "$variable" = - ]; then
            judge "$status" "$name" "${arguments[@]}"
        else
            export "${variable?}"
            judge "$status" "$name" "${arguments[@]}"
            unset "${variable%%=*}"
        fi
    done
}

# judge STATUS NAME ARGUMENTS...: counts the outcomes of a run in $work/output that ended so. A test that failed is failed, unless it carries the tag .timing: it
# bounds a time, and the machine may have been busy. Then it is tried once more by itself, and is a line of the summary. More than five such failures are no
# accident: all are failed.
judge() {
    local status=$1 name=$2 options=() value ran=0 bad=0 absentees=0 again=() final=() pattern
    outcomes "$status"
    skipped=$((skipped + absentees))
    /usr/bin/python3 -B Tests/Tooling/outcomes.py --durations "$work/output.events" >>"$work/durations" || true
    [ "$bad" = 0 ] || complaints "$name failed at first"
    if [ ${#again[@]} -gt 5 ]; then final+=("${again[@]}") again=(); fi
    case " ${*:3} " in *" --no-parallel "*) options=(--no-parallel) ;; esac
    local all=$ran lost=(${final+"${final[@]}"}) repeated=(${again+"${again[@]}"})
    for value in ${repeated+"${repeated[@]}"}; do
        pattern=$(sed 's/[][\\.*^$+?(){}|/]/\\&/g' <<<"$value")
        status=0
        execute "$work/output" ${options+"${options[@]}"} --filter "^$pattern\$" || status=$?
        outcomes "$status"
        if [ "$bad" = 0 ]; then
            repeats+=("passed: $value")
        else
            repeats+=("failed again: $value") lost+=("$value")
            complaints "$value failed again"
        fi
    done
    passed=$((passed + all - ${#lost[@]})) failed=$((failed + ${#lost[@]}))
    printf '%s: %s passed, %s failed\n' "$name" $((all - ${#lost[@]})) "${#lost[@]}"
    for value in ${lost+"${lost[@]}"}; do failures+=("$name: $value"); done
    if [ ${#lost[@]} -gt 0 ]; then tail -n 15 "$work/output"; fi
}

# Sets ran, bad, absentees, again and final; adds to absent.
outcomes() {
    local word value
    again=() final=()
    while read -r word value; do
        case $word in
        ran) ran=$value ;;
        bad) bad=$value ;;
        skipped) absentees=$((absentees + 1)) absent+=("$value") ;;
        again) again+=("$value") ;;
        final) final+=("$value") ;;
        esac
    done < <(/usr/bin/python3 -B Tests/Tooling/outcomes.py "$work/output.events" "$1" || printf 'ran 1\nbad 1\nfinal the outcomes could not be read\n')
}

# complaints TITLE: prints what went wrong, and keeps it for the end of the report.
complaints() {
    {
        printf '%s:\n' "$1"
        # The words behind an arrow belong to the issue in front of them, but for those of the start and of the sources.
        grep -E 'recorded an issue|failed after|error:|Fatal|[Cc]rash|signal|^↳ ' "$work/output" | grep -vE 'Test run with|^↳ (Testing Library|Target Platform|///)' |
            head -n 60 || true
    } | tee -a "$work/complaints"
}
