# One NewReno flow through N1, whose rate practRA scales; with bursts beside it and a varying N2-N3 if asked for.
#
#   ns practra.tcl [NAME=VALUE ...]
#
# Options: those of common.tcl and controller.tcl, and
#   bon               mean length of a background burst (one per second, 10 Mb/s); 0: none
#   bn                mean interval between redraws of N2-N3's rate, uniform on [1, 10] Mb/s; 0: constant
#   seed              of the bursts and the redraws
#   series=FILE       writes what happened over time (below)
#
# Standard output: one `name value` per line. The series has lines `a TIME BYTES` (TCP bytes offered to N1 in the 0.1 s
# that end there), `r TIME RATE` (a rate change), `d TIME` (a TCP packet dropped at N1 or N2).

source [file join [file dirname [info script]] common.tcl]
source [file join [file dirname [info script]] controller.tcl]
array set param {
    bon 0        burst_rate 10e6  cycle 1.0   bn 0      seed 1     series ""
}
read_options $argv
set param(rate) [expr {$param(step) * $param(steps)}]

set ns [new Simulator]
configure_tcp
build_network $ns
prepare_controller $ns $n1 $n2
build_flows $ns

# ------------------------------------------------------------------------------------------------------- callbacks

array set count {tcp_drops_n1 0 tcp_drops_n2 0 drops_n1 0 drops_n2 0 binned 0}

proc on_drop {where line} {
    global clock count series
    incr count(drops_$where)
    if {[lindex $line 4] eq "tcp"} {
        incr count(tcp_drops_$where)
        if {$series ne ""} {puts $series "d [format %.6f [$clock now]]"}
    }
}

# ------------------------------------------------------------------------------------- bursts and the bottleneck

# A burst starts every cycle and is cut where the next one starts.
proc start_burst {} {
    global clock ns param burst burst_length
    set length [$burst_length value]
    $burst start
    if {$length < $param(cycle)} {$ns at [expr {[$clock now] + $length}] "$burst stop"}
    $ns at [expr {[$clock now] + $param(cycle)}] restart_burst
}

proc restart_burst {} {
    global burst
    $burst stop
    start_burst
}

proc redraw_bottleneck {} {
    global clock ns link_n2 redraw_rate redraw_interval
    $link_n2 set bandwidth_ [$redraw_rate value]
    $ns at [expr {[$clock now] + [$redraw_interval value]}] redraw_bottleneck
}

# A random variable with a stream of its own; streams follow each other in the order of creation.
proc random {kind settings} {
    set variable [new RandomVariable/$kind]
    $variable use-rng [new RNG]
    foreach {name value} $settings {$variable set ${name}_ $value}
    return $variable
}

# ------------------------------------------------------------------------------------------------------ the run

proc write_bin {} {
    global clock ns series count
    puts $series "a [format %.1f [$clock now]] [expr {$count(offered) - $count(binned)}]"
    set count(binned) $count(offered)
    $ns at [expr {[$clock now] + 0.1}] write_bin
}

proc finish {} {
    global param ra count tcp receiver series
    set now $param(duration)
    set counters [flow_counters $tcp(0) $receiver(0)]
    print_pairs stdout "" $counters
    set tcp_drops [expr {$count(tcp_drops_n1) + $count(tcp_drops_n2)}]
    print_pairs stdout "" [list \
        mean_rate_bps [format %.1f [expr {[rate_times_time $now] / $now}]] \
        rate_changes $ra(changes) \
        loss [format %.8f [expr {double($tcp_drops) / max([dict get $counters segments_sent], 1)}]] \
        tcp_drops_n1 $count(tcp_drops_n1) tcp_drops_n2 $count(tcp_drops_n2) \
        drops_n1 $count(drops_n1) drops_n2 $count(drops_n2)]
    if {$series ne ""} {close $series}
    exit 0
}

set link_n2 [[$ns link $n2 $n3] link]
watch $ns Drop [[$ns link $n1 $n2] set drophead_] $n1 $n2 "on_drop n1"
watch $ns Drop [[$ns link $n2 $n3] set drophead_] $n2 $n3 "on_drop n2"
start_controller $ns $n1 $n2 [expr {$param(series) ne ""}]
if {$param(series) ne ""} {
    set series [open $param(series) w]
    $ns at 0.1 write_bin
}

global defaultRNG
$defaultRNG seed $param(seed)
if {$param(bon) > 0} {
    set burst_length [random Exponential [list avg $param(bon)]]
    set datagrams [new Agent/UDP]
    $datagrams set packetSize_ $param(packet)
    $datagrams set fid_ 1
    $ns attach-agent $source(0) $datagrams
    set absorber [new Agent/Null]
    $ns attach-agent $sink(0) $absorber
    $ns connect $datagrams $absorber
    set burst [new Application/Traffic/CBR]
    $burst set packetSize_ $param(packet)
    $burst set rate_ $param(burst_rate)
    $burst attach-agent $datagrams
    $ns at 0.0 start_burst
}
if {$param(bn) > 0} {
    set redraw_rate [random Uniform {min 1e6 max 10e6}]
    set redraw_interval [random Exponential [list avg $param(bn)]]
    $ns at [$redraw_interval value] redraw_bottleneck
}
$ns at $param(duration) finish
$ns run
