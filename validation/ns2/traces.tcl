# One or two TCP flows of any kind that ns-2 has, under scripted drops or steps of the capacity.
#
#   ns traces.tcl agent=KIND trace=FILE [NAME=VALUE ...]
#
# Options: those of common.tcl, and
#   agent   tahoe, reno, new_reno, sack, vegas: ns-2's own; linux-NAME: NAME of Agent/TCP/Linux (reno, bic, cubic, vegas, compound)
#   drops   numbers of packets of flow 0 that are lost on their way to N1-N2's queue, commas between; the SYN has number 0
#   ssthresh the first slow-start threshold, segments
#   steps   changes of the rate of N1-N2, TIME:RATE with commas between
#   trace   where to write
# The trace has a line per data segment sent and per change of a window, in the order in which they happen, times in seconds:
#   s TIME FLOW SEGMENT            segments count from 1; 0 is the SYN
#   w TIME FLOW CWND               `cwnd_` in segments: with ns-2's own agents without the inflation of fast recovery
# Standard output: counters as dumbbell.tcl prints them.
#
# The link loses before the queue, as netlull's does.

source [file join [file dirname [info script]] common.tcl]
array set param {trace "" agent new_reno drops "" steps "" ssthresh 10000}
read_options $argv

set ns [new Simulator]
configure_tcp
build_network $ns

set raw [open $param(trace).raw w]
build_flows_of $ns $param(agent) $param(ssthresh)
for {set flow 0} {$flow < $param(flows)} {incr flow} {
    set flow_of([$source($flow) id]) $flow
    $tcp($flow) attach $raw
    $tcp($flow) tracevar cwnd_
    $ns trace-queue $source($flow) $n1 $raw
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
    write_trace
    exit 0
}

$ns at $param(duration) finish
$ns run
