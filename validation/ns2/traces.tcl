# One or two TCP flows of any kind that ns-2 has, under scripted drops or steps of the capacity.
#
#   ns traces.tcl agent=KIND [trace=FILE] [NAME=VALUE ...]
#
# Options: those of common.tcl, and
#   agent   tahoe, reno, new_reno, sack, vegas: ns-2's own; linux-NAME: NAME of Agent/TCP/Linux (reno, bic, cubic, vegas, compound)
#   drops   numbers of packets of flow 0 that are lost on their way to N1-N2's queue, commas between; the SYN has number 0
#   ssthresh the first slow-start threshold, segments
#   steps   changes of the rate of N1-N2, TIME:RATE with commas between
#   trace   where to write; nothing is traced without it
# The trace has a line per data segment sent and per change of a window, in the order in which they happen, times in seconds:
#   s TIME FLOW SEGMENT            segments count from 1; 0 is the SYN
#   w TIME FLOW CWND               `cwnd_` in segments: with ns-2's own agents without the inflation of fast recovery
# Standard output: counters as dumbbell.tcl prints them.
#
# Agent/TCP/Linux has no handshake here (`syn_`): to it the SYN is a segment like any other, whose acknowledgement opens the
# window. The link loses before the queue, as netlull's does.

source [file join [file dirname [info script]] common.tcl]
array set param {trace "" agent new_reno drops "" steps "" ssthresh 10000}
read_options $argv

set ns [new Simulator]
configure_tcp
build_network $ns

# Acknowledgements take no time to send: SACK blocks cost 8 B each here, in netlull 12 B for the first and 8 B for others, and
# 20 us decide which packet a full queue drops.
proc hurry_back {from to} {
    global ns
    [[$ns link $from $to] link] set bandwidth_ 1e12
}
hurry_back $n2 $n1
hurry_back $n3 $n2
for {set flow 0} {$flow < $param(flows)} {incr flow} {
    hurry_back $sink($flow) $n3
    hurry_back $n1 $source($flow)
}

proc make_agents {} {
    global param
    if {[regexp {^linux-(.+)$} $param(agent) -> name]} {
        set tcp [new Agent/TCP/Linux]
        $tcp set syn_ false
        $tcp set delay_growth_ false
        # Its algorithms take round trips from timestamps, which cost nothing on the wire here.
        $tcp set timestamps_ true
        $tcp set ts_option_size_ 0
        # Without a SYN of its own it sends segment 0 without a header: so that all packets are of one size.
        $tcp set useHeaders_ false
        $tcp set packetSize_ $param(packet)
        set sink [new Agent/TCPSink/Sack1]
        $sink set ts_echo_rfc1323_ true
        return [list $tcp $sink $name]
    }
    set kinds {tahoe TCP reno TCP/Reno new_reno TCP/Newreno sack TCP/Sack1 vegas TCP/Vegas}
    set tcp [new Agent/[dict get $kinds $param(agent)]]
    set sink [new Agent/TCPSink[expr {$param(agent) eq "sack" ? "/Sack1" : ""}]]
    if {$param(agent) eq "vegas"} {
        # It sends packets of `packetSize_`, without the header that the others add.
        $tcp set packetSize_ $param(packet)
    }
    return [list $tcp $sink ""]
}

if {$param(trace) ne ""} {set raw [open $param(trace).raw w]}
for {set flow 0} {$flow < $param(flows)} {incr flow} {
    lassign [make_agents] tcp($flow) receiver($flow) name
    $tcp($flow) set fid_ $flow
    $ns attach-agent $source($flow) $tcp($flow)
    $ns attach-agent $sink($flow) $receiver($flow)
    $ns connect $tcp($flow) $receiver($flow)
    set flow_of([$source($flow) id]) $flow
    set transfer [new Application/FTP]
    $transfer attach-agent $tcp($flow)
    set start [expr {$param(start) + $flow * $param(stagger)}]
    # ns-2 takes `window_` for the first ssthresh when the agent starts.
    $tcp($flow) set window_ $param(ssthresh)
    $ns at [expr {$start + 0.0005}] "$tcp($flow) set window_ $param(window)"
    if {$name ne ""} {$ns at 0.0 "$tcp($flow) select_ca $name"}
    $ns at $start "$transfer start"
    if {$param(trace) ne ""} {
        $tcp($flow) attach $raw
        $tcp($flow) tracevar cwnd_
        $ns trace-queue $source($flow) $n1 $raw
    }
}

if {$param(drops) ne ""} {
    set errors [new ErrorModel/List]
    $errors droplist [split $param(drops) ,]
    $ns lossmodel $errors $n1 $n2
}
foreach step [split $param(steps) ,] {
    lassign [split $step :] time rate
    $ns at $time "[[$ns link $n1 $n2] link] set bandwidth_ $rate"
}

proc write_trace {} {
    global param raw flow_of source
    close $raw
    set in [open $param(trace).raw r]
    set out [open $param(trace) w]
    while {[gets $in line] >= 0} {
        if {[scan $line {+ %f %d %*d tcp %*d %*s %d %*s %*s %d} time node fid segment] == 4} {
            puts $out [format "s %.9f %d %d" $time $fid $segment]
        } elseif {[scan $line {%f %d %*d %*d %*d cwnd_ %f} time node cwnd] == 3} {
            puts $out [format "w %.9f %d %.4f" $time $flow_of($node) $cwnd]
        }
    }
    close $in
    close $out
    file delete $param(trace).raw
}

proc finish {} {
    global param tcp receiver
    for {set flow 0} {$flow < $param(flows)} {incr flow} {
        print_pairs stdout [expr {$flow ? "flow$flow." : ""}] [flow_counters $tcp($flow) $receiver($flow)]
    }
    if {$param(trace) ne ""} write_trace
    exit 0
}

# `run` resets the agents in the order of their nodes, and each draws the phase of its clock ticks. With this seed the first
# two phases are 13 and 7 us after time zero, where netlull's ticks begin.
$defaultRNG seed 1325137
$ns at $param(duration) finish
$ns run
