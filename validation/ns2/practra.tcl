# One NewReno flow through N1, whose rate practRA scales; with bursts beside it and a varying N2-N3 if asked for.
#
#   ns practra.tcl [NAME=VALUE ...]
#
# Options: those of common.tcl, and
#   control=0|1       practRA on N1-N2, or the maximum rate all the time (TCPonly)
#   step, steps       the rates are step, 2 step, ..., steps x step
#   delta, d, mrci    transition time, delay bound, minimum rate change interval
#   weight            of the newest sample in the forecast; samples last one mRCI, the first one starts the average
#   tick              0: the rules are tested at every arrival, start of service, end of a sample, end of an mRCI;
#                     otherwise at multiples of it
#   bon               mean length of a background burst (one per second, 10 Mb/s); 0: none
#   bn                mean interval between redraws of N2-N3's rate, uniform on [1, 10] Mb/s; 0: constant
#   seed              of the bursts and the redraws
#   series=FILE       writes what happened over time (below)
#
# Standard output: one `name value` per line. The series has lines `a TIME BYTES` (TCP bytes offered to N1 in the 0.1 s
# that end there), `r TIME RATE` (a rate change), `d TIME` (a TCP packet dropped at N1 or N2).
#
# HOW A RATE CHANGE AND ITS PAUSE ARE DONE
# ns-2 computes a packet's transmission time when the packet leaves the queue, so a change of `bandwidth_` leaves the
# packet in service alone: it finishes at its old rate. The pause cannot be had from `blocked_`: the end of the packet
# in service takes the next one from the queue whatever `blocked_` says, and clearing it later starts nothing. So every
# packet that leaves the queue while the link is paused gets a bandwidth of its own, with which its transmission ends
# when it would have ended had it waited for the end of the pause:
#
#   bandwidth = 8 S / (wait + 8 S / r),   wait = end of the pause - now
#
# The callback of a trace object between queue and link runs at that moment. Departures are then exact. The packet that
# is held has left ns-2's queue but not started: q counts it until its start, and the buffer has room for the same
# number of packets as without a pause, because ns-2's limit never counted the packet at the head of an idle link.
# One difference to a real pause is left: a second change while a packet is held cannot reach that packet. It takes a
# change less than 14 ms after another one (12 ms of service at 1 Mb/s and delta), so only mRCI 10 ms can have it.

source [file join [file dirname [info script]] common.tcl]
array set param {
    control 1    step 1e6     steps 10    delta 0.002   d 0.040    mrci 0.1
    weight 0.25  tick 0
    bon 0        burst_rate 10e6  cycle 1.0   bn 0      seed 1     series ""
}
read_options $argv
set param(rate) [expr {$param(step) * $param(steps)}]

set ns [new Simulator]
set clock [$ns set scheduler_] ;# `$clock now` is several times quicker than `$ns now`
configure_tcp
build_network $ns
build_flows $ns

# ------------------------------------------------------------------------------------------------------- callbacks

# Puts a trace object without a file after `place` (a connector); `script` gets the packet's trace line appended.
proc watch {ns kind place from to script} {
    set watcher [$ns create-trace $kind "" $from $to]
    $watcher set callback_ 1
    $watcher proc handle {line} "$script \$line"
    $watcher target [$place target]
    $place target $watcher
    return $watcher
}

# Fields of a trace line, as the callbacks below take them: event time from to type size flags flow source destination sequence id
array set count {tcp_drops_n1 0 tcp_drops_n2 0 drops_n1 0 drops_n2 0 arrivals 0 offered 0 sampled 0 binned 0}

proc on_drop {where line} {
    global clock count series
    incr count(drops_$where)
    if {[lindex $line 4] eq "tcp"} {
        incr count(tcp_drops_$where)
        if {$series ne ""} {puts $series "d [format %.6f [$clock now]]"}
    }
}

# --------------------------------------------------------------------------------------------------------- practRA

# rate: index into 1..steps, bps: the same in bit/s. waiting, bits: in the queue. held: bits of the packet taken from the
# queue during a pause, until held_until. service_end: of the packet in service (or held). limit: no step up as long as
# the queue holds no more bits. All of this runs twice per packet, so it avoids what is slow in Tcl (max, `$ns now`).
array set ra {waiting 0 bits 0 held 0 held_until 0 service_end 0 pause_end 0 last_change -1e9 changes 0
    forecast -1 rate_time 0 rate_since 0 bandwidth 0 limit 0}
set ra(rate) $param(steps)

# Solves the rules for going up (equation 1.1) for q, at this rate and forecast; q is in bits.
proc set_limit {} {
    global ra param
    set ra(bps) [expr {$ra(rate) * $param(step)}]
    if {$ra(rate) == $param(steps)} {
        set ra(limit) 1e18
        return
    }
    set forecast [expr {max($ra(forecast), 0)}]
    set ra(limit) [expr {min($param(d) * $ra(bps),
        ($param(d) - $param(delta)) * ($ra(bps) + $param(step)) - $param(delta) * $forecast)}]
}
set_limit

# Equations 1.1 to 1.3: at most one step, at most once per mRCI.
proc test_rules {now} {
    global ra param
    if {$now - $ra(last_change) < $param(mrci) - 1e-12} return
    set q $ra(bits)
    if {$now < $ra(held_until)} {set q [expr {$q + $ra(held)}]}
    if {$q > $ra(limit)} {
        change_rate $now 1
    } elseif {$q == 0 && $ra(rate) > 1 && $ra(forecast) >= 0 && $ra(forecast) < $ra(bps) - $param(step)} {
        change_rate $now -1
    }
}

# The rate counts as new from the decision on, as in netlull's mean service rate.
proc change_rate {now step} {
    global ns ra param series
    set ra(rate_time) [expr {$ra(rate_time) + $ra(bps) * ($now - $ra(rate_since))}]
    set ra(rate_since) $now
    incr ra(rate) $step
    incr ra(changes)
    set_limit
    set ra(last_change) $now
    set ra(pause_end) [expr {max($now, $ra(service_end)) + $param(delta)}]
    if {$series ne ""} {puts $series "r [format %.6f $now] $ra(bps)"}
    if {$param(tick) == 0} {
        $ns at [expr {$now + $param(mrci)}] test_rules_now
    }
}

proc test_rules_now {} {
    global clock
    test_rules [$clock now]
}

# A packet reaches N1's output, before the queue. ns-2 hands it on after this, so its fate is worked out here. It cannot
# cause a step down (q > 0), and one up only above the limit.
proc on_arrival {line} {
    global clock ra count param queue_n1
    set size [lindex $line 5]
    incr count(arrivals) $size
    if {[lindex $line 4] eq "tcp"} {incr count(offered) $size}
    if {$ra(waiting) == 0 && ![$queue_n1 set blocked_]} return ;# goes straight into service; tested there
    if {$ra(waiting) < $param(buffer)} {
        incr ra(waiting)
        incr ra(bits) [expr {8 * $size}]
    }
    if {$param(tick) == 0 && $ra(bits) + $ra(held) > $ra(limit)} {test_rules [$clock now]}
}

# A packet leaves the queue: the moment at which ns-2 fixes its transmission time.
proc on_service {line} {
    global clock ra param link_n1
    set now [$clock now]
    set bits [expr {8 * [lindex $line 5]}]
    if {$ra(waiting) > 0} {
        incr ra(waiting) -1
        incr ra(bits) -$bits
    }
    set transmission [expr {$bits / $ra(bps)}]
    if {$ra(pause_end) > $now} {
        set ra(held) $bits
        set ra(held_until) $ra(pause_end)
        set ra(service_end) [expr {$ra(pause_end) + $transmission}]
        set bandwidth [expr {$bits / ($ra(service_end) - $now)}]
    } else {
        set ra(held) 0
        set ra(service_end) [expr {$now + $transmission}]
        set bandwidth $ra(bps)
    }
    if {$bandwidth != $ra(bandwidth)} {
        $link_n1 set bandwidth_ $bandwidth
        set ra(bandwidth) $bandwidth
    }
    if {$param(tick) == 0} {test_rules $now}
}

# The end of a sample interval: equation 1.4.
proc on_sample {} {
    global clock ns ra count param
    set sample [expr {8.0 * ($count(arrivals) - $count(sampled)) / $param(mrci)}]
    set count(sampled) $count(arrivals)
    if {$ra(forecast) < 0} {
        set ra(forecast) $sample
    } else {
        set ra(forecast) [expr {(1 - $param(weight)) * $ra(forecast) + $param(weight) * $sample}]
    }
    set_limit
    set now [$clock now]
    if {$param(tick) == 0} {test_rules $now}
    $ns at [expr {$now + $param(mrci)}] on_sample
}

proc on_tick {} {
    global clock ns param
    set now [$clock now]
    test_rules $now
    $ns at [expr {$now + $param(tick)}] on_tick
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
    set rate_time [expr {$ra(rate_time) + $ra(bps) * ($now - $ra(rate_since))}]
    set counters [flow_counters $tcp(0) $receiver(0)]
    print_pairs stdout "" $counters
    set tcp_drops [expr {$count(tcp_drops_n1) + $count(tcp_drops_n2)}]
    print_pairs stdout "" [list \
        mean_rate_bps [format %.1f [expr {$rate_time / $now}]] \
        rate_changes $ra(changes) \
        loss [format %.8f [expr {double($tcp_drops) / max([dict get $counters segments_sent], 1)}]] \
        tcp_drops_n1 $count(tcp_drops_n1) tcp_drops_n2 $count(tcp_drops_n2) \
        drops_n1 $count(drops_n1) drops_n2 $count(drops_n2)]
    if {$series ne ""} {close $series}
    exit 0
}

set link_n1 [[$ns link $n1 $n2] link]
set link_n2 [[$ns link $n2 $n3] link]
set queue_n1 [[$ns link $n1 $n2] queue]
set series ""
watch $ns Drop [[$ns link $n1 $n2] set drophead_] $n1 $n2 "on_drop n1"
watch $ns Drop [[$ns link $n2 $n3] set drophead_] $n2 $n3 "on_drop n2"
if {$param(control) || $param(series) ne ""} {
    watch $ns Enque [[$ns link $n1 $n2] head] $n1 $n2 on_arrival
}
if {$param(control)} {
    watch $ns Deque $queue_n1 $n1 $n2 on_service
    $ns at $param(mrci) on_sample
    if {$param(tick) > 0} {$ns at $param(tick) on_tick}
} else {
    set param(tick) 1 ;# nothing is tested
}
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
