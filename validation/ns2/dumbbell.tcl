# TCP NewReno over a drop-tail bottleneck.
#
#   ns dumbbell.tcl [NAME=VALUE ...]
#
# Options: those of common.tcl, and `trace=FILE` for the congestion windows. Standard output: one `name value` per line,
# totals first, then one block per flow. The trace has one line per change of a flow's cwnd or ssthresh:
# time (s), flow, cwnd, ssthresh (packets). ns-2 keeps the inflation of fast recovery apart (`dupwnd_`): cwnd is without it.

source [file join [file dirname [info script]] common.tcl]
array set param {trace ""}
read_options $argv

set ns [new Simulator]
configure_tcp
build_network $ns
build_flows $ns

set monitor_n1 [$ns monitor-queue $n1 $n2 ""]
set monitor_n2 [$ns monitor-queue $n2 $n3 ""]

# ns-2 writes a line of its own for each change of a traced variable; they are rewritten at the end.
if {$param(trace) ne ""} {
    set raw [open $param(trace).raw w]
    foreach flow [array names tcp] {
        $tcp($flow) attach $raw
        $tcp($flow) tracevar cwnd_
        $tcp($flow) tracevar ssthresh_
    }
}

# Turns the raw lines (time source port destination port name value) into time, flow, cwnd, ssthresh.
proc write_trace {} {
    global param raw source
    close $raw
    foreach flow [array names source] {
        set flow_of([$source($flow) id]) $flow
        set cwnd($flow) 0
        set ssthresh($flow) 0
    }
    set in [open $param(trace).raw r]
    set out [open $param(trace) w]
    puts $out "# time_s flow cwnd_packets ssthresh_packets"
    while {[gets $in line] >= 0} {
        if {[scan $line {%f %d %*d %*d %*d %s %f} time node name value] != 4} continue
        set flow $flow_of($node)
        switch $name {
            cwnd_ {set cwnd($flow) $value}
            ssthresh_ {set ssthresh($flow) $value}
            default continue
        }
        puts $out [format "%.5f %d %.3f %.0f" $time $flow $cwnd($flow) $ssthresh($flow)]
    }
    close $in
    close $out
    file delete $param(trace).raw
}

proc finish {} {
    global param tcp receiver monitor_n1 monitor_n2
    set total {goodput_bps 0 segments_in_order 0 segments_sent 0 segments_retransmitted 0 timeouts 0 fast_retransmits 0}
    for {set flow 0} {$flow < $param(flows)} {incr flow} {
        set counters($flow) [flow_counters $tcp($flow) $receiver($flow)]
        foreach {name value} $counters($flow) {
            dict set total $name [expr {[dict get $total $name] + $value}]
        }
    }
    dict set total goodput_bps [format %.1f [dict get $total goodput_bps]]
    print_pairs stdout "" $total
    set n1 [$monitor_n1 set pdrops_]
    set n2 [$monitor_n2 set pdrops_]
    set loss [expr {double($n1 + $n2) / max([dict get $total segments_sent], 1)}]
    print_pairs stdout "" [list drops_n1 $n1 drops_n2 $n2 loss [format %.8f $loss]]
    if {$param(flows) > 1} {
        for {set flow 0} {$flow < $param(flows)} {incr flow} {
            print_pairs stdout "flow$flow." $counters($flow)
        }
    }
    if {$param(trace) ne ""} write_trace
    exit 0
}

$ns at $param(duration) finish
$ns run
