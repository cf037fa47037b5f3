# practRA on N1-N2 of common.tcl's network: what practra.tcl and web.tcl share.
#
# Options, in the array `param`:
#   control=0|1       practRA on N1-N2, or the maximum rate all the time (TCPonly)
#   step, steps       the rates are step, 2 step, ..., steps x step
#   delta, d, mrci    transition time, delay bound, minimum rate change interval
#   weight            of the newest sample in the forecast; samples last one mRCI, the first one starts the average
#   tick              0: the rules are tested at every arrival, start of service, end of a sample, end of an mRCI;
#                     otherwise at multiples of it
#
# After `build_network`: `prepare_controller` before the flows are built, `start_controller` before the run.
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

array set param {
    control 1    step 1e6     steps 10    delta 0.002   d 0.040    mrci 0.1
    weight 0.25  tick 0
}

# Puts a trace object without a file after `place` (a connector); `script` gets the packet's trace line appended.
proc watch {ns kind place from to script} {
    set watcher [$ns create-trace $kind "" $from $to]
    $watcher set callback_ 1
    $watcher proc handle {line} "$script \$line"
    $watcher target [$place target]
    $place target $watcher
    return $watcher
}

# What reached N1's output; fields of a trace line, as the callbacks take them: event time from to type size flags flow source
# destination sequence id
array set count {arrivals 0 offered 0 sampled 0}
# A channel to which rate changes are written, or nothing.
set series ""

# rate: index into 1..steps, bps: the same in bit/s. waiting, bits: in the queue. held: bits of the packet taken from the
# queue during a pause, until held_until. service_end: of the packet in service (or held). limit: no step up as long as
# the queue holds no more bits. All of this runs twice per packet, so it avoids what is slow in Tcl (max, `$ns now`).
array set ra {waiting 0 bits 0 held 0 held_until 0 service_end 0 pause_end 0 last_change -1e9 changes 0
    forecast -1 rate_time 0 rate_since 0 bandwidth 0 limit 0}

# The link from n1 to n2 starts at its highest rate.
proc prepare_controller {ns n1 n2} {
    global param ra clock link_n1 queue_n1
    set clock [$ns set scheduler_] ;# `$clock now` is several times quicker than `$ns now`
    set link_n1 [[$ns link $n1 $n2] link]
    set queue_n1 [[$ns link $n1 $n2] queue]
    set ra(rate) $param(steps)
    set_limit
}

# Connects the rules to the link; `counted`: arrivals are counted without practRA, too.
proc start_controller {ns n1 n2 counted} {
    global param queue_n1
    if {$param(control) || $counted} {
        watch $ns Enque [[$ns link $n1 $n2] head] $n1 $n2 on_arrival
    }
    if {$param(control)} {
        watch $ns Deque $queue_n1 $n1 $n2 on_service
        $ns at $param(mrci) on_sample
        if {$param(tick) > 0} {$ns at $param(tick) on_tick}
    } else {
        set param(tick) 1 ;# nothing is tested
    }
}

# The integral of the service rate from 0 to `now`.
proc rate_times_time {now} {
    global ra
    return [expr {$ra(rate_time) + $ra(bps) * ($now - $ra(rate_since))}]
}

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
    set ra(rate_time) [rate_times_time $now]
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

