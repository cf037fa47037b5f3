# Web downloads through N1, whose rate practRA scales: each a NewReno connection of its own, at the instants and of the sizes of a list.
#
#   ns web.tcl requests=FILE [NAME=VALUE ...]
#
# Options: those of common.tcl and controller.tcl, and
#   requests=FILE     a line `TIME SEGMENTS` for each download, in the order of time
#   warm_up           downloads that begin before, and drops before, do not count
#   fin               size of a packet that each download sends when it is complete; 0: none. ns-2 closes no connection, but the
#                     FIN of a real one takes a place in the buffer
#
# Standard output: one `name value` per line. Completion is from the SYN to the last byte acknowledged, of the downloads that are
# complete at the end. A percentile is the least time that so many per cent did not exceed.

source [file join [file dirname [info script]] common.tcl]
source [file join [file dirname [info script]] controller.tcl]
array set param {requests "" warm_up 10 fin 40}
read_options $argv
set param(rate) [expr {$param(step) * $param(steps)}]

set ns [new Simulator]
set clock [$ns set scheduler_]
configure_tcp
build_network $ns
prepare_controller $ns $n1 $n2

set sink_kind [expr {$param(delack) ? "Agent/TCPSink/DelAck" : "Agent/TCPSink"}]
array set count {drops 0 started 0 retransmitted 0}
set completions {}
set fins [new Agent/UDP]
set fins_end [new Agent/Null]
$ns attach-agent $source(0) $fins
$ns attach-agent $sink(0) $fins_end
$ns connect $fins $fins_end

# Agents that have been unused for a while: a segment sent twice may be on its way when a download is complete. Creating agents
# is what costs ns-2 most, the more so the more there are.
set unused {}

proc take_agents {} {
    global ns source sink sink_kind unused
    if {[llength $unused] > 0} {
        set agents [lindex $unused 0]
        set unused [lrange $unused 1 end]
        lassign $agents tcp receiver
        $tcp reset
        $receiver reset
        return $agents
    }
    align_ticks new_reno
    set tcp [new Agent/TCP/Newreno]
    set receiver [new $sink_kind]
    $ns attach-agent $source(0) $tcp
    $ns attach-agent $sink(0) $receiver
    $ns connect $tcp $receiver
    return [list $tcp $receiver]
}

# A connection of its own. ns-2's SYN, its segment 0, comes on top of the segments asked for.
proc open_download {began segments} {
    global param count
    lassign [take_agents] tcp receiver
    $tcp proc done {} "close_download $tcp $receiver $began"
    if {$began >= $param(warm_up)} {incr count(started)}
    $tcp advanceby $segments
}

proc close_download {tcp receiver began} {
    global ns clock param completions fins
    set now [$clock now]
    if {$param(fin) > 0} {$fins send $param(fin)}
    if {$began >= $param(warm_up)} {lappend completions [expr {$now - $began}]}
    $ns at [expr {$now + 5.0}] [list lappend unused [list $tcp $receiver]]
}

# One event at a time: the next line is read when its download begins.
proc next_download {} {
    global ns file pending clock
    if {[info exists pending]} {
        open_download {*}$pending
        unset pending
    }
    if {[gets $file line] >= 0} {
        set pending $line
        $ns at [lindex $line 0] next_download
    }
}

proc on_drop {line} {
    global clock count param
    if {[$clock now] >= $param(warm_up)} {incr count(drops)}
}

proc begin_measuring {} {
    global ra count param base
    set now $param(warm_up)
    array set base [list rate [rate_times_time $now] changes $ra(changes) arrivals $count(arrivals)]
}

proc percentile {sorted share} {
    set rank [expr {int(ceil($share * [llength $sorted]))}]
    return [lindex $sorted [expr {max($rank, 1) - 1}]]
}

proc finish {} {
    global param ra count completions base
    set now $param(duration)
    set measured [expr {$now - $param(warm_up)}]
    set sorted [lsort -real $completions]
    set sum 0.0
    foreach time $sorted {set sum [expr {$sum + $time}]}
    set completed [llength $sorted]
    print_pairs stdout "" [list \
        started $count(started) \
        completed $completed \
        mean_completion_s [format %.6f [expr {$sum / max($completed, 1)}]] \
        p50_completion_s [format %.6f [percentile $sorted 0.50]] \
        p95_completion_s [format %.6f [percentile $sorted 0.95]] \
        p99_completion_s [format %.6f [percentile $sorted 0.99]] \
        mean_rate_bps [format %.1f [expr {([rate_times_time $now] - $base(rate)) / $measured}]] \
        rate_changes [expr {$ra(changes) - $base(changes)}] \
        arrived_bytes [expr {$count(arrivals) - $base(arrivals)}] \
        drops $count(drops)]
    exit 0
}

watch $ns Drop [[$ns link $n1 $n2] set drophead_] $n1 $n2 on_drop
start_controller $ns $n1 $n2 1
set file [open $param(requests)]
next_download
$ns at $param(warm_up) begin_measuring
$ns at $param(duration) finish
$ns run
