# RED on one link between two nodes, under Poisson datagrams or TCP NewReno.
#
#   ns red.tcl [NAME=VALUE ...]
#
# Thresholds are in packets and ns-2's options are those of Floyd and Jacobson 1993 (no `wait_`, packets instead of bytes),
# with `gentle_`. Results count from `warm_up` on. Standard output: one `name value` per line.

array set param {
    seed 1            duration 310      warm_up 10
    traffic poisson   load 1.1          flows 20
    rate 10e6         delay 0.025       packet 1500      buffer 1000
    min_th 10         max_th 30         max_p 0.1        weight 0.002     gentle 1
}
foreach argument $argv {
    if {![regexp {^([a-z_]+)=(.*)$} $argument -> name value] || ![info exists param($name)]} {
        puts stderr "$argument: expected NAME=VALUE with NAME one of [lsort [array names param]]"
        exit 2
    }
    set param($name) $value
}

set ns [new Simulator]
ns-random $param(seed)

Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set wait_ false
Queue/RED set use_mark_p_ false
Queue/RED set setbit_ false
Queue/RED set adaptive_ 0
Queue/RED set mean_pktsize_ $param(packet)
Queue/RED set thresh_ $param(min_th)
Queue/RED set maxthresh_ $param(max_th)
Queue/RED set linterm_ [expr {1.0 / $param(max_p)}]
Queue/RED set q_weight_ $param(weight)
Queue/RED set gentle_ [expr {$param(gentle) ? "true" : "false"}]

set near [$ns node]
set far [$ns node]
$ns simplex-link $near $far $param(rate) $param(delay) RED
$ns simplex-link $far $near $param(rate) $param(delay) DropTail
$ns queue-limit $near $far [expr {$param(buffer) + 1}]
$ns queue-limit $far $near 1000000

proc start_poisson {ns} {
    global param near far
    set agent [new Agent/UDP]
    $agent set packetSize_ $param(packet)
    set sink [new Agent/Null]
    $ns attach-agent $near $agent
    $ns attach-agent $far $sink
    $ns connect $agent $sink
    # An exponential on-off source whose bursts are one packet long is a Poisson process.
    set source [new Application/Traffic/Exponential]
    $source set packetSize_ $param(packet)
    $source set burst_time_ 0
    $source set rate_ 1e15
    $source set idle_time_ [expr {8.0 * $param(packet) / ($param(load) * $param(rate))}]
    $source attach-agent $agent
    $ns at 0.0 "$source start"
}

# Settings of TCP as in common.tcl, without limited transmit (README.md, where the two differ).
proc start_tcp {ns} {
    global param near far
    Agent/TCP set packetSize_ [expr {$param(packet) - 40}]
    Agent/TCP set tcpip_base_hdr_size_ 40
    Agent/TCP set window_ 10000
    Agent/TCP set minrto_ 0.2
    Agent/TCP set windowInit_ 2
    Agent/TCP set timestamps_ false
    Agent/TCP set overhead_ 0
    Agent/TCP set singledup_ 0
    Agent/TCPSink set packetSize_ 40
    set starts [new RandomVariable/Uniform]
    $starts set min_ 0.0
    $starts set max_ 1.0
    for {set flow 0} {$flow < $param(flows)} {incr flow} {
        set tcp [new Agent/TCP/Newreno]
        set sink [new Agent/TCPSink]
        $ns attach-agent $near $tcp
        $ns attach-agent $far $sink
        $ns connect $tcp $sink
        set transfer [new Application/FTP]
        $transfer attach-agent $tcp
        $ns at [$starts value] "$transfer start"
    }
}

start_$param(traffic) $ns
set monitor [$ns monitor-queue $near $far ""]

# The monitor counts packets that wait; its integrator is brought up to date by the next packet.
proc counters {} {
    global monitor
    set area [[$monitor get-pkts-integrator] set sum_]
    return [list [$monitor set parrivals_] [$monitor set pdrops_] [$monitor set pdepartures_] $area]
}

proc start_measuring {} {
    global before
    set before [counters]
}

proc finish {} {
    global param before
    lassign $before arrivals drops departures area
    lassign [counters] arrivals_end drops_end departures_end area_end
    set span [expr {$param(duration) - $param(warm_up)}]
    puts "loss [format %.6f [expr {double($drops_end - $drops) / ($arrivals_end - $arrivals)}]]"
    puts "mean_queue [format %.4f [expr {($area_end - $area) / $span}]]"
    puts "throughput_bps [format %.0f [expr {8.0 * $param(packet) * ($departures_end - $departures) / $span}]]"
    exit 0
}

$ns at $param(warm_up) start_measuring
$ns at $param(duration) finish
$ns run
